import { ToolError } from "../../../tool/errors.js";
import type { Kept } from "../../../tool/tool.js";

const MAX_NAMES = 100;
const MAX_CHARS = 16 * 1024 * 1024;

/** Clipboards by name that live as long as their session, for handing text from one tool to another. */
export class SessionClipboards implements Kept {
  readonly #texts = new Map<string, string>();

  read(name: string): string | undefined {
    return this.#texts.get(name);
  }

  write(name: string, text: string): void {
    let chars = text.length;
    for (const [other, held] of this.#texts) if (other !== name) chars += held.length;
    if (chars > MAX_CHARS || (this.#texts.size >= MAX_NAMES && !this.#texts.has(name))) {
      throw new ToolError(
        `The clipboards of a session hold at most ${MAX_NAMES} names and ${MAX_CHARS} characters.`,
        { code: "over_budget", hint: "Clear one that is not needed any more, or write a file." },
      );
    }
    this.#texts.set(name, text);
  }

  clear(name: string): void {
    this.#texts.delete(name);
  }

  get names(): readonly string[] {
    return [...this.#texts.keys()].sort();
  }

  close(): void {
    this.#texts.clear();
  }
}
