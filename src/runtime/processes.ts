import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProcessTable } from "../env/processes/process-table.js";
import type { ProcessInfo, SessionProcesses, TrackedProcess } from "../env/processes/types.js";
import { ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { Runtime } from "./runtime.js";

/** The background processes of all sessions. Nothing is loaded before the first one is started. */
export class RuntimeProcesses {
  readonly #runtime: Runtime;
  readonly #folder: string;
  #opening: Promise<ProcessTable> | undefined;
  #table: ProcessTable | undefined;
  #recovery: Promise<void> | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#folder = join(runtime.config.paths.cache, "processes");
  }

  of(session: string): SessionProcesses {
    const known = () => this.#table?.forSession(session);
    return {
      start: async (request) => (await this.#open()).forSession(session).start(request),
      list: () => known()?.list() ?? [],
      get: (id) => {
        const found = known()?.get(id);
        if (found !== undefined) return found;
        throw new ToolError(`There is no background process ${JSON.stringify(id)}: none was started.`, {
          code: "not_found",
          hint: "Start one with the terminal tool and background: true.",
        });
      },
      pendingInput: (id) => known()?.pendingInput(id) ?? "",
      sentInput: (id) => known()?.sentInput(id) ?? "",
      seenEnd: (id) => known()?.seenEnd(id),
      takeNotices: () => known()?.takeNotices() ?? [],
    };
  }

  /** Of every session of this runtime. */
  list(): readonly ProcessInfo[] {
    return this.#table?.list() ?? [];
  }

  find(id: string): TrackedProcess | undefined {
    return this.#table?.find(id);
  }

  /** Ends and reports what a runtime that died has left; one look at a folder when there is nothing. */
  recover(): Promise<void> {
    this.#recovery ??= existsSync(this.#folder) ? this.#recover() : Promise.resolve();
    return this.#recovery;
  }

  endSession(session: string): void {
    void this.#table?.endSession(session);
  }

  async close(): Promise<void> {
    await this.#recovery;
    const table = await this.#opening?.catch(() => undefined);
    await table?.close();
  }

  async #recover(): Promise<void> {
    try {
      await (await this.#open()).recover();
    } catch (error) {
      this.#runtime.log.warn(
        `what an earlier runtime may have left running could not be looked at: ${describeThrown(error).message}`,
      );
    }
  }

  #open(): Promise<ProcessTable> {
    this.#opening ??= this.#make();
    return this.#opening;
  }

  async #make(): Promise<ProcessTable> {
    const { createProcessTable } = await import("../env/processes/process-table.js");
    const { config, log, redact, events } = this.#runtime;
    this.#table = createProcessTable({
      store: () => this.#runtime.store(),
      folder: this.#folder,
      redact,
      log,
      emit: (event) => events.emit(event),
      limits: { tracked: config.values.terminal.max_processes },
    });
    return this.#table;
  }
}
