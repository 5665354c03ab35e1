import { LIMITS } from "../limits.js";
import type { ShellInput, ShellWord, SimpleCommand } from "../types.js";
import { UNKNOWN } from "../types.js";

/** What flows into a command. `text` may hold unknown pieces; `from` are the commands that produced it. */
export type Stream =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string; readonly from: readonly SimpleCommand[] }
  | { readonly kind: "file"; readonly path: ShellWord };

export const NO_INPUT: Stream = { kind: "none" };

/** Programs of a pipe that are kept for taint rules; longer pipes exist only to waste time. */
export const MOST_PRODUCERS = 12;

/** Collects what the commands of one pipe stage or substitution print. */
export class Output {
  #text = "";
  readonly from: SimpleCommand[] = [];

  print(text: string): void {
    if (this.#text.length + text.length <= LIMITS.text) this.#text += text;
    else if (!this.#text.endsWith(UNKNOWN)) this.#text += UNKNOWN;
  }

  /** Something is printed here, but nobody knows what; a line of its own, so that it hides no neighbour. */
  printUnknown(): void {
    if (!this.#text.endsWith(`${UNKNOWN}\n`)) this.print(`${UNKNOWN}\n`);
  }

  producedBy(command: SimpleCommand): void {
    if (this.from.length < MOST_PRODUCERS) this.from.push(command);
  }

  get text(): string {
    return this.#text;
  }

  stream(): Stream {
    return { kind: "text", text: this.#text, from: this.from };
  }
}

/** The form in which rules see it. */
export function inputOf(stream: Stream): ShellInput {
  if (stream.kind !== "text") return stream;
  const known = !stream.text.includes(UNKNOWN);
  if (!known && stream.from.length > 0) return { kind: "commands", from: stream.from };
  return { kind: "text", text: { text: stream.text, known, glob: false } };
}

export function isKnown(stream: Stream): stream is Extract<Stream, { kind: "text" }> {
  return stream.kind === "text" && !stream.text.includes(UNKNOWN);
}
