import type { DaytonaApi } from "./api.js";
import { commandLine, forgetScript, WAIT_SECONDS } from "./scripts.js";

/** How long folders of ended programs may lie around when no request comes along that could remove them. */
const MAX_LYING_MS = 2_000;

/** What the daemon in a sandbox offers, for one running sandbox. */
export class Toolbox {
  readonly api: DaytonaApi;
  readonly url: string;
  /** Closing waits for what is given to it. */
  readonly tidy: (work: Promise<unknown>) => void;
  /** Folders of programs that are over; the next request removes them on its way. */
  readonly #leftovers = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: {
    readonly api: DaytonaApi;
    readonly url: string;
    tidy(work: Promise<unknown>): void;
  }) {
    this.api = parts.api;
    this.url = parts.url;
    this.tidy = parts.tidy;
  }

  /** The folder of a program that is over goes with the next request. */
  forget(folder: string): void {
    this.#leftovers.add(folder);
    this.#timer ??= setTimeout(() => this.tidy(this.run("")), MAX_LYING_MS).unref();
  }

  /** Everything the script printed. */
  async run(script: string, signal?: AbortSignal): Promise<string> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unneeded = [...this.#leftovers];
    this.#leftovers.clear();
    try {
      const { result } = await this.api.call<{ result?: string | undefined }>({
        method: "POST",
        url: `${this.url}/process/execute`,
        json: { command: commandLine(forgetScript(unneeded) + script), timeout: WAIT_SECONDS + 30 },
        signal,
      });
      return result ?? "";
    } catch (error) {
      for (const folder of unneeded) this.forget(folder);
      throw error;
    }
  }

  async upload(path: string, bytes: Uint8Array): Promise<void> {
    await this.api.call({ method: "POST", url: `${this.url}/files/bulk-upload`, file: { path, bytes } });
  }

  async createTerminal(terminal: {
    readonly id: string;
    readonly cols: number;
    readonly rows: number;
  }): Promise<void> {
    await this.api.call({ method: "POST", url: `${this.url}/process/pty`, json: terminal });
  }

  async resizeTerminal(id: string, size: { readonly cols: number; readonly rows: number }): Promise<void> {
    await this.api.call({ method: "POST", url: `${this.url}/process/pty/${id}/resize`, json: size });
  }

  async deleteTerminal(id: string): Promise<void> {
    await this.api.call({ method: "DELETE", url: `${this.url}/process/pty/${id}` });
  }
}
