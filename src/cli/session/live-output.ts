import { stripVTControlCharacters } from "node:util";
import { isRecord } from "../../base/record.js";
import { visibleWithColours } from "../../base/visible-text.js";
import type { CallResult } from "../../tool/call.js";
import type { Progress } from "../../tool/tool.js";

/** Shows what a command prints while it runs, in whole lines, and takes care that none of it is shown again. */
export class LiveOutput {
  readonly #redact: (text: string) => string;
  readonly #write: (line: string) => void;
  #rest = "";
  #shown = false;

  constructor(options: { redact(text: string): string; write(line: string): void }) {
    this.#redact = options.redact;
    this.#write = options.write;
  }

  take({ chunk }: Progress): void {
    if (chunk === undefined) return;
    // A carriage return may be the first half of a line end that comes with the next piece.
    const lines = (this.#rest + chunk).split(/\r?\n|\r(?!\n|$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#show(line);
  }

  /** The result without what has been shown. */
  restOf(result: CallResult): CallResult {
    if (this.#rest.trim() !== "") this.#show(this.#rest);
    const { structured, human } = result;
    if (!this.#shown || !isRecord(structured)) return result;
    const { output, screen, ...others } = structured;
    const before = String(screen ?? output ?? "").replace(/\n$/, "");
    if (!result.ok) return { ...result, structured: others };
    return human.startsWith(before) ? { ...result, human: human.slice(before.length).trimStart() } : result;
  }

  #show(line: string): void {
    this.#shown = true;
    this.#write(visibleWithColours(stripVTControlCharacters(this.#redact(line))));
  }
}
