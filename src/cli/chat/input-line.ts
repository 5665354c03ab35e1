import { cellWidth, cutToWidth } from "../../base/cell-width.js";
import type { Output } from "../output.js";
import { SLASH_COMMANDS } from "./commands.js";
import { type Completion, commonStart, completionFor } from "./completion.js";
import { LineEditor } from "./editor.js";
import type { InputHistory } from "./history.js";
import type { Key } from "./keys.js";
import type { Caret } from "./screen.js";

const MOST_CHOICES = 6;

interface InputLineParts {
  readonly out: Output;
  readonly history: InputHistory;
  cwd(): string;
}

/** Where the person writes: the text, what was written before, and how what is begun could go on. */
export class InputLine {
  readonly #parts: InputLineParts;
  readonly #editor = new LineEditor();
  #completion: Completion | undefined;
  /** Which choice Tab has taken; undefined while it only goes as far as all agree. */
  #chosen: number | undefined;

  constructor(parts: InputLineParts) {
    this.#parts = parts;
  }

  get text(): string {
    return this.#editor.text;
  }

  set(text: string): void {
    this.#editor.set(text);
    this.closeChoices();
  }

  /** What was written, and an empty line in its place. */
  take({ forget = false }: { readonly forget?: boolean } = {}): string {
    const { text } = this;
    this.set("");
    if (!forget) void this.#parts.history.add(text);
    return text;
  }

  press(key: Key, changed: () => void): void {
    const name = key.kind === "key" ? key.name : undefined;
    if (name === "tab" || name === "backtab") this.#complete(name === "tab" ? 1 : -1, changed);
    else if (name === "down") this.#down();
    else {
      this.#editor.take(key);
      this.closeChoices();
      // What could follow a `/` or an `@` is shown without being asked for.
      if (key.kind === "text" && /(?:^\/|(?:^|\s)@)\S*$/.test(this.#editor.before)) this.#look(changed);
    }
  }

  up(): void {
    if (!this.#editor.moveLine(-1)) this.#recall(-1);
  }

  /** Whether there were some. */
  closeChoices(): boolean {
    const were = this.#completion !== undefined;
    this.#completion = undefined;
    this.#chosen = undefined;
    return were;
  }

  layout(options: {
    readonly width: number;
    readonly height: number;
    readonly isSecret: boolean;
    readonly mark?: string | undefined;
  }): { readonly rows: readonly string[]; readonly caret: Caret } {
    const { ascii } = this.#parts.out;
    const prompt = `${options.mark ?? (ascii ? ">" : "›")} `;
    if (options.isSecret) {
      const before = cutToWidth(`${prompt}${"*".repeat(cellWidth(this.text))}`, options.width);
      return { rows: [before], caret: { row: 0, before } };
    }
    const { rows, caret } = this.#editor.layout({ prompt, width: options.width });
    // Of a long text, what is around the caret.
    const from = Math.max(0, Math.min(caret.row - options.height + 1, rows.length - options.height));
    return {
      rows: [...rows.slice(from, from + options.height), ...this.#choices(options.width)],
      caret: { row: caret.row - from, before: caret.before },
    };
  }

  #down(): void {
    if (!this.#editor.moveLine(1)) this.#recall(1);
  }

  #recall(by: -1 | 1): void {
    const text = this.#parts.history.move(by, this.text);
    if (text !== undefined) this.set(text);
  }

  /** The first Tab goes as far as all choices agree, the next ones go through them. */
  #complete(by: -1 | 1, changed: () => void): void {
    const completion = this.#completion;
    if (completion === undefined) {
      this.#look(changed, true);
      return;
    }
    const texts = completion.choices.map(({ text }) => text);
    const common = commonStart(texts);
    if (this.#chosen === undefined && common.length > completion.length) {
      this.#editor.replaceBefore(completion.length, common);
      this.closeChoices();
      if (texts.length > 1) this.#look(changed);
      return;
    }
    const next = this.#chosen === undefined ? (by === 1 ? 0 : -1) : this.#chosen + by;
    this.#chosen = (next + texts.length) % texts.length;
    const text = texts[this.#chosen] ?? "";
    this.#editor.replaceBefore(completion.length, text);
    this.#completion = { ...completion, length: text.length };
  }

  #look(changed: () => void, thenComplete = false): void {
    const { before } = this.#editor;
    void completionFor(before, { commands: SLASH_COMMANDS, cwd: this.#parts.cwd() }).then((found) => {
      // The person may have gone on writing.
      if (this.#editor.before !== before) return;
      this.#completion = found;
      if (thenComplete && found !== undefined) this.#complete(1, changed);
      changed();
    });
  }

  #choices(width: number): readonly string[] {
    const { color } = this.#parts.out;
    const { choices = [] } = this.#completion ?? {};
    const from = Math.max(0, Math.min((this.#chosen ?? 0) - MOST_CHOICES + 1, choices.length - MOST_CHOICES));
    return choices.slice(from, from + MOST_CHOICES).map(({ text, about }, index) => {
      const row = cutToWidth(`  ${text.trimEnd().padEnd(14)} ${about ?? ""}`.trimEnd(), width);
      return from + index === this.#chosen ? color.inverse(row) : color.dim(row);
    });
  }
}
