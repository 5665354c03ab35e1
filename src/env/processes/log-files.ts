import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";
import type { OutputRing } from "./output-ring.js";

const TAIL_CHARS = 65_536;
const WRITE_EVERY_MS = 2_000;
/** Masking is work for the event loop: what is left of it waits a moment. */
const TURN_MS = 20;
const BETWEEN_TURNS_MS = 200;

interface Logged {
  readonly ring: OutputRing;
  writtenBytes: number;
  writtenAt: number;
  /** One write at a time. */
  writing: Promise<void>;
}

/**
 * Writes the end of each process's output to a file, so that other processes can show it: at its end, and now
 * and then while it changes. One timer serves all of them.
 */
export class LogFiles {
  readonly #folder: string;
  readonly #redact: (text: string) => string;
  readonly #logged = new Map<string, Logged>();
  readonly #tasks: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: { readonly folder: string; readonly redact: (text: string) => string }) {
    this.#folder = options.folder;
    this.#redact = options.redact;
  }

  /** Called at every look, about every two seconds while anything is followed. */
  alsoDo(task: () => void): void {
    this.#tasks.push(task);
  }

  follow(id: string, ring: OutputRing): void {
    this.#logged.set(id, { ring, writtenBytes: 0, writtenAt: 0, writing: Promise.resolve() });
    this.#plan(WRITE_EVERY_MS);
  }

  /** Resolves when its last words are in the file. */
  async finish(id: string): Promise<void> {
    const logged = this.#logged.get(id);
    this.#logged.delete(id);
    if (logged !== undefined) await this.#write(id, logged);
    if (this.#logged.size === 0) this.stop();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #plan(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#turn().then((later) => {
        this.#timer = undefined;
        if (this.#logged.size > 0) this.#plan(later ? BETWEEN_TURNS_MS : WRITE_EVERY_MS);
      });
    }, ms).unref();
  }

  /** True when some had to be left for later. */
  async #turn(): Promise<boolean> {
    for (const task of this.#tasks) task();
    const started = performance.now();
    for (const [id, logged] of this.#logged) {
      if (logged.ring.totalBytes === logged.writtenBytes) continue;
      if (started - logged.writtenAt < WRITE_EVERY_MS) continue;
      if (performance.now() - started > TURN_MS) return true;
      await this.#write(id, logged);
    }
    return false;
  }

  #write(id: string, logged: Logged): Promise<void> {
    logged.writing = logged.writing.then(async () => {
      logged.writtenBytes = logged.ring.totalBytes;
      logged.writtenAt = performance.now();
      const text = this.#redact(logged.ring.tail(TAIL_CHARS));
      // A full disk must not end what is being watched.
      const path = logFile(this.#folder, id);
      await replaceFile({ path, data: text, mode: 0o600, sync: false }).catch(() => undefined);
    });
    return logged.writing;
  }

  /** For those who must not leave a write under way. */
  async settled(): Promise<void> {
    await this.#writing;
  }
}

export function logFile(folder: string, id: string): string {
  return join(folder, `${id}.log`);
}

export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
}

/** Files of processes that nobody remembers. */
export async function removeLogs(folder: string, ids: readonly string[]): Promise<void> {
  const known = new Set(await readdir(folder).catch(() => []));
  for (const id of ids) {
    if (known.has(`${id}.log`)) await rm(logFile(folder, id), { force: true });
  }
}
