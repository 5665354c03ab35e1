import type { Kept } from "../../../tool/tool.js";
import { ScriptThread } from "./thread.js";

/** A thread nobody has used for this long is ended. */
const IDLE_MS = 5 * 60_000;

/** The threads of one session: the last one used stays warm for the next script. Obtained by `ctx.keep`. */
export class ScriptThreads implements Kept {
  readonly #busy = new Set<ScriptThread>();
  #idle: ScriptThread | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  take(memoryBytes: number): ScriptThread {
    clearTimeout(this.#timer);
    const thread = this.#idle?.alive === true ? this.#idle : new ScriptThread(memoryBytes);
    this.#idle = undefined;
    this.#busy.add(thread);
    return thread;
  }

  giveBack(thread: ScriptThread): void {
    this.#busy.delete(thread);
    thread.rest();
    if (!thread.alive || this.#closed || this.#idle !== undefined) {
      void thread.end();
      return;
    }
    this.#idle = thread;
    this.#timer = setTimeout(() => void this.#endIdle(), IDLE_MS).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#endIdle(), ...[...this.#busy].map((thread) => thread.end())]);
  }

  async #endIdle(): Promise<void> {
    clearTimeout(this.#timer);
    const thread = this.#idle;
    this.#idle = undefined;
    await thread?.end();
  }
}
