import { cellWidth, cutToWidth } from "../../base/cell-width.js";

/** Where the person types: a row of the live part, and the text in front of the cursor in it. */
export interface Caret {
  readonly row: number;
  readonly before: string;
}

export interface LivePart {
  readonly rows: readonly string[];
  /** Left out while nothing can be typed: the cursor rests at the end. */
  readonly caret?: Caret | undefined;
}

/** What is drawn on. */
export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

/** Terminals that know it show everything in between at once; the others pass it over. */
const TOGETHER = { begin: "\x1b[?2026h", end: "\x1b[?2026l" };
const NOTHING: LivePart = { rows: [] };

/**
 * What is finished is printed once and belongs to the terminal from then on: it scrolls, can be searched and copied.
 * Below it stands a small live part, always shorter than the screen, and only that is ever drawn anew.
 */
export class ChatScreen {
  readonly #canvas: Canvas;
  #drawn: LivePart = NOTHING;
  #wanted: LivePart = NOTHING;
  /** Rows between the top of the live part and the cursor, as the terminal counts them. */
  #cursorRow = 0;
  #isStale = false;
  #isAway = false;
  /** Lines that wait to be printed with the next drawing. */
  #finished: string[] = [];

  constructor(canvas: Canvas) {
    this.#canvas = canvas;
  }

  /**
   * Lines that are finished: printed above the live part with its next drawing, so that nothing is ever seen twice, and
   * never touched again.
   */
  print(lines: readonly string[]): void {
    this.#finished.push(...lines);
  }

  /** What is going on now, in the place of what was shown there before. */
  live(part: LivePart): void {
    this.#wanted = part;
    if (this.#isAway) return;
    if (this.#isStale || this.#finished.length > 0 || !isSame(this.#fitted(part), this.#drawn)) this.#draw();
  }

  /** Takes the live part away: the terminal belongs to somebody else for a while, or for good. */
  leave(): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#canvas.write(this.#erasing() + this.#takeFinished());
    this.#forgetDrawn();
  }

  /** Draws again, where the cursor is now. */
  comeBack(): void {
    this.#isAway = false;
    this.#forgetDrawn();
    this.#draw();
  }

  /**
   * The terminal has broken its rows anew: those above the cursor may have become more, or fewer. The next live part is
   * drawn in any case.
   */
  resized(): void {
    const { columns } = this.#canvas;
    const { rows, caret } = this.#drawn;
    const above = rows.slice(0, caret?.row ?? Math.max(rows.length - 1, 0));
    const taken = above.reduce((sum, row) => sum + Math.max(1, Math.ceil(cellWidth(row) / columns)), 0);
    this.#cursorRow = taken + Math.floor(cellWidth(caret?.before ?? rows.at(-1) ?? "") / columns);
    this.#isStale = true;
  }

  #draw(): void {
    const next = this.#fitted(this.#wanted);
    const shown = this.#erasing() + this.#takeFinished() + drawing(next);
    this.#canvas.write(TOGETHER.begin + shown + TOGETHER.end);
    this.#isStale = false;
    this.#drawn = next;
    this.#cursorRow = next.caret?.row ?? Math.max(next.rows.length - 1, 0);
  }

  #takeFinished(): string {
    return this.#finished
      .splice(0)
      .map((line) => `${line}\r\n`)
      .join("");
  }

  #forgetDrawn(): void {
    this.#drawn = NOTHING;
    this.#cursorRow = 0;
  }

  #erasing(): string {
    return `${this.#cursorRow > 0 ? `\x1b[${this.#cursorRow}A` : ""}\r\x1b[J`;
  }

  /** A row less than the screen has, and a column less: what touches the edges scrolls or wraps. */
  #fitted({ rows, caret }: LivePart): LivePart {
    const height = Math.max(this.#canvas.rows - 1, 1);
    const width = Math.max(this.#canvas.columns - 1, 1);
    // What is nearest to the person's own line counts most.
    const end = caret === undefined ? rows.length : Math.min(rows.length, Math.max(caret.row + 1, height));
    const from = Math.max(0, end - height);
    return {
      rows: rows.slice(from, end).map((row) => cutToWidth(row, width)),
      ...(caret !== undefined && { caret: { row: caret.row - from, before: caret.before } }),
    };
  }
}

/**
 * The cursor is put in its place by writing what stands in front of it once more: where that ends is up to the terminal,
 * which may take some characters for wider or narrower than others do.
 */
function drawing({ rows, caret }: LivePart): string {
  const drawn = rows.join("\r\n");
  if (caret === undefined) return drawn;
  const up = rows.length - 1 - caret.row;
  return `${drawn}${up > 0 ? `\x1b[${up}A` : ""}\r${caret.before}`;
}

function isSame(one: LivePart, other: LivePart): boolean {
  return (
    one.caret?.row === other.caret?.row &&
    one.caret?.before === other.caret?.before &&
    one.rows.length === other.rows.length &&
    one.rows.every((row, index) => row === other.rows[index])
  );
}
