import type { DaytonaApi } from "./api.js";
import type { Leftovers } from "./leftovers.js";
import { commandLine, forgetScript, WAIT_SECONDS } from "./scripts.js";

/** What the daemon in a sandbox offers, for one running sandbox. */
export class Toolbox {
  readonly #api: DaytonaApi;
  readonly #leftovers: Leftovers;
  readonly url: string;

  constructor(parts: { readonly api: DaytonaApi; readonly url: string; readonly leftovers: Leftovers }) {
    this.#api = parts.api;
    this.url = parts.url;
    this.#leftovers = parts.leftovers;
  }

  /** The folder of a program that is over goes with the next request. */
  forget(folder: string): void {
    this.#leftovers.add([folder]);
  }

  get api(): DaytonaApi {
    return this.#api;
  }

  /** Everything the script printed. */
  async run(script: string, signal?: AbortSignal): Promise<string> {
    const unneeded = this.#leftovers.take();
    try {
      const { result } = await this.#api.call<{ result?: string }>({
        method: "POST",
        url: `${this.url}/process/execute`,
        json: { command: commandLine(forgetScript(unneeded) + script), timeout: WAIT_SECONDS + 30 },
        ...(signal === undefined ? {} : { signal }),
      });
      return result ?? "";
    } catch (error) {
      this.#leftovers.add(unneeded);
      throw error;
    }
  }

  async upload(path: string, bytes: Uint8Array): Promise<void> {
    await this.#api.call({ method: "POST", url: `${this.url}/files/bulk-upload`, file: { path, bytes } });
  }

  async createTerminal(terminal: {
    readonly id: string;
    readonly cols: number;
    readonly rows: number;
  }): Promise<void> {
    await this.#api.call({ method: "POST", url: `${this.url}/process/pty`, json: terminal });
  }

  async resizeTerminal(id: string, size: { readonly cols: number; readonly rows: number }): Promise<void> {
    await this.#api.call({ method: "POST", url: `${this.url}/process/pty/${id}/resize`, json: size });
  }

  async deleteTerminal(id: string): Promise<void> {
    await this.#api.call({ method: "DELETE", url: `${this.url}/process/pty/${id}` });
  }
}
