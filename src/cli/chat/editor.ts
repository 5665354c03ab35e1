import { cellWidth, graphemesOf } from "../../base/cell-width.js";
import type { Key, KeyName } from "./keys.js";
import type { Caret } from "./screen.js";

/** A tab would go to a column that only the terminal knows. */
const TAB = "    ";

/** The text that a person is writing, of one or more lines, and the place where they are writing. */
export class LineEditor {
  #text = "";
  /** Counted in UTF-16 units, always between two graphemes. */
  #at = 0;

  get text(): string {
    return this.#text;
  }

  /** What stands before the caret. */
  get before(): string {
    return this.#text.slice(0, this.#at);
  }

  set(text: string): void {
    this.#text = text;
    this.#at = text.length;
  }

  insert(text: string): void {
    this.#text = this.before + text + this.#text.slice(this.#at);
    this.#at += text.length;
  }

  /** Takes the last characters before the caret away and writes others in their place. */
  replaceBefore(length: number, text: string): void {
    this.#cut(this.#at - length, this.#at);
    this.insert(text);
  }

  /** Whether the key was one for writing; the others are somebody else's. */
  take(key: Key): boolean {
    if (key.kind !== "key") {
      this.insert(key.text.replaceAll("\t", TAB));
      return true;
    }
    const edit = this.#edits[key.name];
    edit?.();
    return edit !== undefined;
  }

  /** One line up or down; false at the first and the last, where it means something else. */
  moveLine(by: -1 | 1): boolean {
    const lines = this.#text.split("\n");
    const above = this.before.split("\n");
    const row = above.length - 1;
    const target = lines[row + by];
    if (target === undefined) return false;
    const column = cellWidth(above[row] ?? "");
    const start = lines.slice(0, row + by).reduce((sum, line) => sum + line.length + 1, 0);
    this.#at = start + lengthUpTo(target, column);
    return true;
  }

  /** As it is drawn: the first row behind the prompt, the others set in as far. */
  layout({ prompt, width }: { readonly prompt: string; readonly width: number }): {
    readonly rows: readonly string[];
    readonly caret: Caret;
  } {
    const indent = " ".repeat(cellWidth(prompt));
    const room = Math.max(width - indent.length, 1);
    const rows: string[] = [];
    let caret: Caret = { row: 0, before: prompt };
    let offset = 0;
    let row = "";
    let used = 0;
    const start = () => (rows.length === 0 ? prompt : indent);
    const end = () => {
      rows.push(start() + row);
      row = "";
      used = 0;
    };
    const mark = () => {
      if (offset === this.#at) caret = { row: rows.length, before: start() + row };
    };
    // Line by line: most lines of a long text are plain, and those are quick to take apart.
    for (const line of this.#text.split("\n")) {
      for (const grapheme of graphemesOf(line)) {
        const wide = cellWidth(grapheme);
        if (used > 0 && used + wide > room) end();
        mark();
        row += grapheme;
        used += wide;
        offset += grapheme.length;
      }
      // Behind the last character of a full row the caret would stand beyond the edge.
      if (offset === this.#at && used >= room) end();
      mark();
      end();
      offset += 1;
    }
    return { rows, caret };
  }

  readonly #edits: Readonly<Partial<Record<KeyName, () => void>>> = {
    newline: () => this.insert("\n"),
    backspace: () => this.#cut(this.#left(), this.#at),
    delete: () => this.#cut(this.#at, this.#right()),
    left: () => this.#goTo(this.#left()),
    right: () => this.#goTo(this.#right()),
    home: () => this.#goTo(this.#lineStart()),
    end: () => this.#goTo(this.#lineEnd()),
    "word-left": () => this.#goTo(this.#wordLeft()),
    "word-right": () => this.#goTo(this.#wordRight()),
    "delete-word": () => this.#cut(this.#wordLeft(), this.#at),
    "delete-to-start": () => this.#cut(this.#lineStart(), this.#at),
    "delete-to-end": () => this.#cut(this.#at, this.#lineEnd()),
  };

  #goTo(at: number): void {
    this.#at = at;
  }

  #cut(from: number, to: number): void {
    this.#text = this.#text.slice(0, from) + this.#text.slice(to);
    this.#at = from;
  }

  #left(): number {
    return this.#at - (graphemesOf(this.before).at(-1)?.length ?? 0);
  }

  #right(): number {
    return this.#at + (graphemesOf(this.#text.slice(this.#at))[0]?.length ?? 0);
  }

  #lineStart(): number {
    return this.before.lastIndexOf("\n") + 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.#at);
    return end === -1 ? this.#text.length : end;
  }

  #wordLeft(): number {
    return this.before.replace(/\S+\s*$|\s+$/u, "").length;
  }

  #wordRight(): number {
    return this.#at + (/^\s*\S+/u.exec(this.#text.slice(this.#at))?.[0].length ?? 0);
  }
}

/** How much of a line lies left of a column. */
function lengthUpTo(line: string, column: number): number {
  let used = 0;
  let length = 0;
  for (const grapheme of graphemesOf(line)) {
    used += cellWidth(grapheme);
    if (used > column) break;
    length += grapheme.length;
  }
  return length;
}
