import pc from "picocolors";
import { cellWidth, cutToWidth } from "../base/cell-width.js";
import { messageOf } from "../base/errno.js";
import { visibleWithColours } from "../base/visible-text.js";
import type { Origin } from "../config/types.js";
import type { CallResult } from "../tool/call.js";
import { type Failure, failure, HermesError } from "../tool/errors.js";
import { type Meaning, renderMarks } from "../tool/marked-text.js";
import { EXIT, exitCodeOf } from "./errors.js";

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly jsonl?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly ascii?: boolean | undefined;
}

interface ListOutput<Row> {
  readonly rows: readonly Row[];
  /** A row as programs see it; as it is when left out. */
  readonly asJson?: (row: Row) => unknown;
  readonly head?: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  /** What people read instead of an empty table. */
  readonly empty?: string;
}

/** How a command speaks: results on stdout, everything else on stderr. */
export class Output {
  /** A program reads: JSON and nothing else on stdout. */
  readonly json: boolean;
  /** The same, and what is a list comes one item per line. */
  readonly jsonl: boolean;
  readonly quiet: boolean;
  readonly ascii: boolean;
  readonly #plain: boolean;
  readonly color: ReturnType<typeof pc.createColors>;

  constructor(options: OutputOptions, env: Readonly<Record<string, string | undefined>> = process.env) {
    this.jsonl = options.jsonl === true;
    this.json = options.json === true || this.jsonl;
    this.quiet = options.quiet === true;
    const dumb = env.TERM === "dumb" || env.CI !== undefined;
    const refused = options.color === false || (env.NO_COLOR ?? "") !== "";
    const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0";
    this.ascii = options.ascii === true || env.HERMES_ASCII === "1" || env.TERM === "dumb";
    this.#plain = this.ascii || refused || dumb;
    this.color = pc.createColors(!refused && (forced || (process.stdout.isTTY === true && !dumb)));
  }

  /** A line for people; silent when a program reads. */
  line(text = ""): void {
    if (!this.json) process.stdout.write(`${text}\n`);
  }

  /** The one JSON value of `--json`. */
  value(value: unknown): void {
    process.stdout.write(jsonLine(value));
  }

  /** A list: one JSON array with `--json`, one item per line with `--jsonl`. */
  values(items: readonly unknown[]): void {
    if (this.jsonl) for (const item of items) this.value(item);
    else this.value(items);
  }

  /** One result: the value for programs, the text for people. */
  result(value: unknown, text: string): void {
    if (this.json) this.value(value);
    else this.line(text);
  }

  /** A list: its rows as JSON for programs, as a table for people. */
  list<Row>({ rows, asJson, head, cells, empty }: ListOutput<Row>): void {
    if (this.json) this.values(asJson === undefined ? rows : rows.map(asJson));
    else if (rows.length === 0 && empty !== undefined) this.line(empty);
    else this.table([...(head === undefined ? [] : [head]), ...rows.map(cells)]);
  }

  /** For people: columns padded to the widest cell. */
  table(rows: readonly (readonly string[])[]): void {
    const columns = process.stdout.isTTY === true ? process.stdout.columns : undefined;
    for (const line of tableLines(rows)) this.line(columns ? cutToWidth(line, columns) : line);
  }

  /** What a call came to, the same for every command that makes one. */
  callResult(
    { human, ...envelope }: CallResult,
    { passExitCode = false }: { readonly passExitCode?: boolean } = {},
  ): void {
    const { ok, notices = [], error, structured, exit_code: exitCode = 0 } = envelope;
    if (exitCode !== 0) process.exitCode = passExitCode ? exitCode & 0xff : programExit(exitCode);
    if (this.json) this.value(this.jsonl ? { type: "result", ...envelope } : envelope);
    // Files and pipes get the bytes; a terminal would obey some of them.
    else if (ok && human !== "")
      this.line(paintMarks(process.stdout.isTTY ? visibleWithColours(human) : human, this.color));
    for (const notice of notices) this.note(notice);
    if (error === undefined) return;
    this.fail(error);
    if (structured !== undefined) this.note(JSON.stringify(structured));
  }

  /** Remarks that are not results. */
  note(text: string): void {
    if (!this.quiet && !this.json) process.stderr.write(`${text}\n`);
  }

  emoji(symbol: string | undefined): string {
    return this.#plain ? "" : `${symbol ?? "⚡"} `;
  }

  mark(level: "ok" | "note" | "warning" | "error"): string {
    const signs = this.ascii
      ? { ok: "ok", note: "--", warning: "!!", error: "xx" }
      : { ok: "✓", note: "·", warning: "⚠", error: "✗" };
    const { green, dim, yellow, red } = this.color;
    const paint = { ok: green, note: dim, warning: yellow, error: red };
    return paint[level](signs[level]);
  }

  /** Reports a failure the way the caller asked for and sets the exit code. */
  fail(problem: Failure, exitCode: number = exitCodeOf(problem.code)): void {
    if (this.json) process.stderr.write(jsonLine({ error: problem }));
    else {
      process.stderr.write(`${this.color.red("error:")} ${problem.message}\n`);
      if (problem.hint !== undefined) process.stderr.write(`${this.color.dim(problem.hint)}\n`);
    }
    process.exitCode = exitCode;
  }

  /** Anything thrown on the way becomes one readable line, never a stack. */
  failWith(thrown: unknown): void {
    if (thrown instanceof HermesError) {
      const { code, hint, message } = thrown;
      const told = failure(code, hint === undefined ? message : message.slice(0, -(hint.length + 2)), hint);
      // A command that set its exit code before it threw knows more than the code of the error.
      const set = Number(process.exitCode ?? EXIT.ok);
      this.fail(told, set === EXIT.ok ? exitCodeOf(code) : set);
      return;
    }
    const message = messageOf(thrown);
    this.fail(failure("internal", message), EXIT.unexpected);
  }
}

/** A program that failed is no success for scripts, whatever it meant to say with its exit code. */
function programExit(exitCode: number): number {
  return exitCode === EXIT.timeout ? EXIT.timeout : EXIT.toolError;
}

/** Line separators that JSON leaves alone would end the line for some readers. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(LINE_SEPARATORS, escaped)}\n`;
}

const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Columns padded to the widest cell; the last one is left as it is. */
export function tableLines(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cellWidth(cell));
    });
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - cellWidth(cell) + gap),
      )
      .join(""),
  );
}

/** The first sentence, or as much as fits. */
export function brief(text: string, chars = 72): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length <= chars ? line : `${line.slice(0, chars - 1)}…`;
}

/** Where a setting was made: file and line, or the variable or flag. */
export function describeOrigin(origin: Origin): string {
  if (origin.file !== undefined)
    return `(${origin.file}${origin.line === undefined ? "" : `:${origin.line}`})`;
  return `(${origin.source}${origin.name === undefined ? "" : ` ${origin.name}`})`;
}

/** Marks of a text for people as colours of the terminal; gone where there are none. */
export function paintMarks(text: string, color: Output["color"]): string {
  const paints: Readonly<Record<Meaning, (part: string) => string>> = {
    added: color.green,
    removed: color.red,
    heading: (part) => color.bold(color.cyan(part)),
    dim: color.dim,
    strong: color.bold,
    good: color.green,
    warning: color.yellow,
    bad: color.red,
    path: color.cyan,
  };
  return renderMarks(text, (meaning, part) => paints[meaning](part));
}
