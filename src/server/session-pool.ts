import type { Approver } from "../call/scope.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Session } from "../runtime/session.js";
import { onceOnly } from "./once-only.js";

const MAX_SESSIONS = 32;

/**
 * The long-lived sessions behind the API: one for what is configured, and one for each narrower choice of
 * toolsets, so that what tools remember about a session lasts from request to request.
 */
export class SessionPool {
  readonly #runtime: Runtime;
  readonly #approver: Approver | undefined;
  readonly #narrow = new Map<string, Promise<Session>>();
  #whole: Promise<Session> | undefined;
  #before: Session | undefined;
  #generation = -1;

  /** Without an approver, what needs approval is denied at once. */
  constructor(runtime: Runtime, approver?: Approver) {
    this.#runtime = runtime;
    this.#approver = approver && onceOnly(approver);
  }

  /** Throws a HermesError for a toolset nobody knows. */
  async session(toolsets: readonly string[] | undefined): Promise<Session> {
    this.#renewAfterChange();
    if (toolsets === undefined) return this.#configured();
    const key = toolsets.toSorted().join(",");
    const made = this.#narrow.get(key) ?? this.#open(toolsets);
    this.#narrow.delete(key);
    this.#narrow.set(key, made);
    made.catch(() => this.#narrow.delete(key));
    if (this.#narrow.size > MAX_SESSIONS) {
      const [oldest] = this.#narrow.keys();
      if (oldest !== undefined) this.#narrow.delete(oldest);
    }
    return made;
  }

  /** The tools a request with these toolsets may use: never more than the configuration gives. */
  async toolNames(toolsets: readonly string[]): Promise<readonly string[]> {
    const [asked, configured] = await Promise.all([
      this.#runtime.listTools({ enabled: toolsets }),
      this.#runtime.listTools(),
    ]);
    const allowed = new Set(configured.filter((tool) => tool.enabled).map((tool) => tool.name));
    return asked.filter((tool) => tool.enabled && allowed.has(tool.name)).map((tool) => tool.name);
  }

  /** A child of the configured session, so that naming toolsets can narrow the choice and never widen it. */
  async #open(toolsets: readonly string[]): Promise<Session> {
    const tools = await this.toolNames(toolsets);
    return (await this.#configured()).openChild({ tools, door: "http" });
  }

  #configured(): Promise<Session> {
    const approver = this.#approver;
    this.#whole ??= this.#runtime
      .openSession({
        door: "http",
        ...(approver && { approver }),
        ...(this.#before && { continues: this.#before }),
      })
      .then((session) => {
        this.#before = session;
        return session;
      })
      .catch((error: unknown) => {
        this.#whole = undefined;
        throw error;
      });
    return this.#whole;
  }

  /** A session's tools are fixed when it opens; tools that were added since need new sessions, which go on for the old ones. */
  #renewAfterChange(): void {
    const { generation } = this.#runtime.registry;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#whole = undefined;
    this.#narrow.clear();
  }
}
