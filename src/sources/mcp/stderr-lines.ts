import { stripControls } from "../../base/visible-text.js";

const KEPT_LINES = 20;
const LONGEST_LINE = 500;

/** The last lines a server wrote to its standard error, readable and without secrets. */
export class StderrLines {
  readonly #redact: (text: string) => string;
  readonly #lines: string[] = [];
  #unfinished = "";

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(chunk: string): void {
    const parts = (this.#unfinished + chunk).split("\n");
    this.#unfinished = (parts.pop() ?? "").slice(0, LONGEST_LINE * 4);
    // Only the last ones can stay; a flood need not be cleaned line by line.
    for (const line of parts.slice(-KEPT_LINES)) this.#keep(line);
  }

  get lines(): readonly string[] {
    const rest = this.#readable(this.#unfinished);
    return rest === "" ? [...this.#lines] : [...this.#lines, rest].slice(-KEPT_LINES);
  }

  #keep(raw: string): void {
    const line = this.#readable(raw);
    if (line === "") return;
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }

  #readable(raw: string): string {
    const line = stripControls(raw.slice(0, LONGEST_LINE * 4)).replaceAll("\n", " ");
    return this.#redact(line).trim().slice(0, LONGEST_LINE);
  }
}
