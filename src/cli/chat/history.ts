import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";

const KEPT = 1_000;

/**
 * What was typed before, also in other chats. The file has one JSON text a line, for what was typed may have several;
 * chats that run side by side add to its end and never write it anew, but for the one that finds it too long.
 */
export class InputHistory {
  readonly #path: string;
  readonly #entries: string[];
  /** Where the person looks; behind the last entry lies what they are writing. */
  #at: number;
  #draft = "";

  private constructor(path: string, entries: string[]) {
    this.#path = path;
    this.#entries = entries;
    this.#at = entries.length;
  }

  static async open(path: string): Promise<InputHistory> {
    const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
    const entries = lines.flatMap(entryIn);
    if (entries.length > 2 * KEPT) {
      const kept = entries.slice(-KEPT);
      const data = kept.map((entry) => `${JSON.stringify(entry)}\n`).join("");
      await replaceFile({ path, data, mode: 0o600, sync: false });
      return new InputHistory(path, kept);
    }
    return new InputHistory(path, entries.slice(-KEPT));
  }

  /** A file that cannot be written keeps nobody from talking. */
  async add(text: string): Promise<void> {
    if (text.trim() !== "" && text !== this.#entries.at(-1)) {
      this.#entries.push(text);
      await mkdir(dirname(this.#path), { recursive: true })
        .then(() => appendFile(this.#path, `${JSON.stringify(text)}\n`, { mode: 0o600 }))
        .catch(() => undefined);
    }
    this.#at = this.#entries.length;
  }

  /** The text before or after this one; undefined at the end. What was being written is found again behind the last. */
  move(by: -1 | 1, current: string): string | undefined {
    const next = this.#at + by;
    if (next < 0 || next > this.#entries.length) return undefined;
    if (this.#at === this.#entries.length) this.#draft = current;
    this.#at = next;
    return next === this.#entries.length ? this.#draft : this.#entries[next];
  }
}

function entryIn(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}
