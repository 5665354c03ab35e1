import { LruMap } from "../base/lru.js";
import type { Approver } from "../call/scope.js";
import type { Runtime } from "./runtime.js";
import type { Session, SessionOptions } from "./session.js";

/**
 * A session that keeps up with the registry. Its tools are fixed when it opens; when some were added or changed, the
 * next request gets a new one that goes on for the old one.
 */
export class RenewedSession {
  readonly #runtime: Runtime;
  readonly #options: SessionOptions;
  #opening: Promise<Session> | undefined;
  #generation = -1;
  #latest: Session | undefined;
  #closed = false;

  constructor(runtime: Runtime, options: SessionOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  current(): Promise<Session> {
    const { generation } = this.#runtime.registry;
    if (this.#opening === undefined || generation !== this.#generation) {
      this.#generation = generation;
      const opening = this.#open(this.#opening);
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  /** What it has running in the background ends with it. */
  close(): void {
    this.#closed = true;
    this.#latest?.close();
  }

  /** One after the other, so that each goes on for the one before. */
  async #open(previous: Promise<Session> | undefined): Promise<Session> {
    await previous?.catch(() => undefined);
    const session = await this.#runtime.openSession({ ...this.#options, continues: this.#latest });
    this.#latest = session;
    if (this.#closed) session.close();
    return session;
  }
}

const MAX_NARROW = 32;

/**
 * The long-lived sessions that requests share: one for what is configured, and one for each narrower choice of
 * toolsets, so that what tools remember about a session lasts from request to request.
 */
export class SessionPool {
  readonly #runtime: Runtime;
  readonly #configured: RenewedSession;
  readonly #narrow = new LruMap<string, Promise<Session>>(MAX_NARROW);
  /** The configured session that the narrow ones are children of. */
  #parent: Session | undefined;

  /** Without an approver, what needs approval is denied at once. */
  constructor(runtime: Runtime, options: Pick<SessionOptions, "door" | "approver">) {
    const { door, approver } = options;
    this.#runtime = runtime;
    this.#configured = new RenewedSession(runtime, { door, approver: approver && onceOnly(approver) });
  }

  /** Throws a HermesError for a toolset nobody knows. */
  async session(toolsets: readonly string[] | undefined): Promise<Session> {
    const parent = await this.#configured.current();
    if (toolsets === undefined) return parent;
    if (parent !== this.#parent) this.#narrow.clear();
    this.#parent = parent;
    const key = toolsets.toSorted().join(",");
    const made = this.#narrow.get(key) ?? this.#openChild(parent, toolsets);
    this.#narrow.set(key, made);
    made.catch(() => this.#narrow.delete(key));
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
  async #openChild(parent: Session, toolsets: readonly string[]): Promise<Session> {
    return parent.openChild({ tools: await this.toolNames(toolsets), door: parent.scope.door });
  }
}

/** For a session that several clients share: a yes for the session would be a yes to all of them. */
export function onceOnly(approver: Approver): Approver {
  return {
    async ask(request, signal) {
      const given = await approver.ask({ ...request, sessionKeys: [] }, signal);
      const reply = typeof given === "string" ? { answer: given } : given;
      return reply.answer === "session" ? { ...reply, answer: "once" } : reply;
    },
  };
}
