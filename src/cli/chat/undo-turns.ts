import { join } from "node:path";
import type { AgentResult } from "../../agent/events.js";
import { type Snapshot, WorkspaceSnapshots } from "../../agent/snapshots.js";
import type { AgentModel } from "../../agent/turn.js";
import { unlessAborted } from "../../base/deadline.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Session } from "../../runtime/session.js";
import { listChanges, undoChanges } from "../../runtime/undo.js";

/** What is needed to take a turn back. */
export interface DoneTurn {
  readonly said: string;
  /** The last message before it. */
  readonly after: string;
  readonly startedAt: number;
  readonly before?: Snapshot | undefined;
  readonly afterwards?: Snapshot | undefined;
}

export interface UndoneFiles {
  readonly restored: readonly string[];
  readonly left: readonly string[];
}

/** The turns of one conversation that can be taken back, and what their folder held before and after each. */
export class UndoTurns {
  readonly #session: Session;
  readonly #runtime: Runtime;
  readonly #notice: (message: string) => void;
  readonly #snapshots: WorkspaceSnapshots | undefined;
  readonly #turns: DoneTurn[] = [];
  #begun: Pick<DoneTurn, "said" | "after" | "startedAt"> | undefined;
  #before: Promise<Snapshot | undefined> | undefined;
  #told = false;

  constructor(parts: {
    readonly session: Session;
    readonly runtime: Runtime;
    notice(message: string): void;
  }) {
    this.#session = parts.session;
    this.#runtime = parts.runtime;
    this.#notice = parts.notice;
    const { environment, info } = parts.session.scope;
    const { home } = parts.runtime.config.paths;
    if (environment.kind === "local")
      this.#snapshots = new WorkspaceSnapshots({ home, workspace: info.workspace });
  }

  begin(turn: { readonly said: string; readonly after: string }): void {
    this.#begun = { ...turn, startedAt: Date.now() };
    this.#before = undefined;
  }

  /** Before the first call of a turn: a turn that only talks costs nothing. */
  async keep(): Promise<void> {
    if (this.#begun === undefined) return;
    this.#before ??= this.#snapshot();
    await this.#before;
  }

  async end(result: AgentResult | undefined): Promise<void> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined) return;
    const before = await this.#before;
    const hasActed = (result?.tool_calls.length ?? 1) > 0;
    const afterwards = before !== undefined && hasActed ? await this.#snapshot() : undefined;
    this.#turns.push({ ...begun, before, afterwards });
  }

  /** Takes the last one off the list; undefined when there is none. */
  takeLast(): DoneTurn | undefined {
    return this.#turns.pop();
  }

  /** First the folder as a whole, then what lies outside it or is named by .gitignore, as far as tools changed it. */
  async takeFilesBack({ before, afterwards, startedAt }: DoneTurn): Promise<UndoneFiles> {
    const restored: string[] = [];
    const left: string[] = [];
    if (before !== undefined && afterwards !== undefined && this.#snapshots !== undefined) {
      const done = await this.#snapshots.takeBack(before, afterwards);
      if ("reason" in done) this.#notice(`The folder could not be put back as a whole: ${done.reason}.`);
      else {
        restored.push(...done.restored);
        left.push(...done.left);
      }
    }
    const { workspace } = this.#session.scope.info;
    const settled = new Set([...restored, ...left].map((path) => join(workspace, path)));
    const changes = { session: this.#session.id, since: startedAt };
    const rows = await listChanges(this.#runtime, changes).catch(() => []);
    const others = rows.filter(({ path, target }) => !settled.has(path) && !settled.has(target ?? path));
    if (others.length === 0) return { restored, left };
    for (const { path, outcome } of await undoChanges(this.#runtime, { rows: others }))
      (outcome === "left" ? left : restored).push(path);
    return { restored, left };
  }

  async #snapshot(): Promise<Snapshot | undefined> {
    const taken = await this.#snapshots?.take();
    if (taken === undefined || typeof taken === "string") return taken;
    if (!this.#told)
      this.#notice(
        `/undo will take back what file tools change, but not what commands change: ${taken.reason}.`,
      );
    this.#told = true;
    return undefined;
  }
}

/** The same model. No call of it is handed on before `keep` is done. */
export function keepingBeforeCalls(model: AgentModel, keep: () => Promise<void>): AgentModel {
  return {
    get name() {
      return model.name;
    },
    get prices() {
      return model.prices;
    },
    contextTokens: model.contextTokens,
    client: {
      async *stream(request) {
        for await (const part of model.client.stream(request)) {
          if (part.type === "tool_call")
            await (request.signal === undefined ? keep() : unlessAborted(keep(), request.signal));
          yield part;
        }
      },
    },
  };
}
