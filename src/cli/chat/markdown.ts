import { cellWidth } from "../../base/cell-width.js";
import { visibleLines } from "../../base/visible-text.js";
import type { Output } from "../output.js";
import { type Span, wrapSpans } from "./rows.js";

type Paint = (text: string) => string;

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*(\S*)/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_LINE = /^\s*\|[\s:|-]+\|\s*$/;

/** A table longer than this is shown as it was written: it would have to wait for its end. */
const MOST_TABLE_ROWS = 60;

/**
 * Markdown as it comes in. A line is finished with its line break and never changes again; only tables wait for their
 * end, because their columns depend on every row.
 */
export class MarkdownStream {
  readonly #out: Output;
  readonly #columns: () => number;
  #line = "";
  #fence: string | undefined;
  #table: string[] = [];
  #wasEmpty = true;

  constructor(out: Output, columns: () => number) {
    this.#out = out;
    this.#columns = columns;
  }

  /** Rows that are finished by this. */
  feed(delta: string): readonly string[] {
    const lines = (this.#line + delta.replaceAll("\r\n", "\n")).split("\n");
    this.#line = lines.pop() ?? "";
    return lines.flatMap((line) => this.#finished(line));
  }

  /** What is not finished: the rest of a table, and the line that is being written. */
  pending(): readonly string[] {
    const table = this.#table.length === 0 ? [] : this.#tableRows(this.#table);
    return this.#line === "" ? table : [...table, ...this.#rowsOf(this.#line)];
  }

  /** There is no more to come. */
  end(): readonly string[] {
    const rest = [...(this.#line === "" ? [] : this.#finished(this.#line)), ...this.#endTable()];
    this.#line = "";
    this.#fence = undefined;
    this.#wasEmpty = true;
    return rest;
  }

  #finished(line: string): readonly string[] {
    const fence = FENCE.exec(line)?.[1];
    if (this.#fence !== undefined) {
      this.#wasEmpty = false;
      if (fence === undefined || !fence.startsWith(this.#fence)) return this.#rowsOf(line);
      this.#fence = undefined;
      return [];
    }
    if (TABLE_ROW.test(line) && this.#table.length < MOST_TABLE_ROWS) {
      this.#table.push(line);
      this.#wasEmpty = false;
      return [];
    }
    const before = this.#endTable();
    if (fence !== undefined) {
      this.#fence = fence;
      return before;
    }
    const isEmpty = line.trim() === "";
    // Several empty lines are one, and an answer does not begin with one.
    const rows = isEmpty ? (this.#wasEmpty ? [] : [""]) : this.#rowsOf(line);
    this.#wasEmpty = isEmpty;
    return [...before, ...rows];
  }

  #rowsOf(written: string): readonly string[] {
    const { color, ascii } = this.#out;
    const width = Math.max(this.#columns() - 1, 10);
    const line = visibleLines(written).replaceAll("\t", "    ");
    if (this.#fence !== undefined)
      return wrapSpans([{ text: `  ${line}`, paint: color.cyan }], { width, indent: "  " });
    const heading = HEADING.exec(line);
    if (heading !== null) {
      const paint: Paint = (text) => color.bold(heading[1] === "#" ? color.underline(text) : text);
      return wrapSpans(this.#inline(heading[2] ?? "", paint), { width });
    }
    if (RULE.test(line)) return [color.dim((ascii ? "-" : "─").repeat(Math.min(width, 40)))];
    const quote = QUOTE.exec(line);
    if (quote !== null) {
      const bar = color.dim(ascii ? "| " : "│ ");
      return wrapSpans(this.#inline(quote[1] ?? "", color.italic), { width: width - 2 }).map(
        (row) => bar + row,
      );
    }
    const item = ITEM.exec(line);
    if (item !== null) {
      const [, indent = "", sign = "", text = ""] = item;
      const mark = /\d/.test(sign) || ascii ? sign : "•";
      const head = `${indent}${mark} `;
      const spans = [{ text: head }, ...this.#inline(text)];
      return wrapSpans(spans, { width, indent: " ".repeat(cellWidth(head)) });
    }
    return wrapSpans(this.#inline(line), { width });
  }

  /** Bold, italic, struck out, code, links. What does not close is text. */
  #inline(text: string, base?: Paint): readonly Span[] {
    const { color } = this.#out;
    const paints: readonly [RegExp, (match: RegExpExecArray) => readonly Span[]][] = [
      [/^`([^`]+)`/, ([, code = ""]) => [{ text: code, paint: color.cyan }]],
      [/^\*\*([^*]+(?:\*[^*]+\*[^*]*)*)\*\*/, ([, bold = ""]) => this.#inline(bold, color.bold)],
      [/^__([^_]+)__(?!\w)/, ([, bold = ""]) => this.#inline(bold, color.bold)],
      [/^\*([^*\s](?:[^*]*[^*\s])?)\*/, ([, slanted = ""]) => this.#inline(slanted, color.italic)],
      [/^~~([^~]+)~~/, ([, gone = ""]) => [{ text: gone, paint: color.strikethrough }]],
      [
        /^!?\[([^\]]*)\]\(([^)\s]+)(?:\s"[^"]*")?\)/,
        ([, label = "", address = ""]) =>
          label === address || label === ""
            ? [{ text: address, paint: color.underline }]
            : [
                { text: label, paint: color.underline },
                { text: ` (${address})`, paint: color.dim },
              ],
      ],
    ];
    const spans: Span[] = [];
    let plain = "";
    const flush = () => {
      if (plain !== "") spans.push(base === undefined ? { text: plain } : { text: plain, paint: base });
      plain = "";
    };
    for (let at = 0; at < text.length; ) {
      const rest = text.slice(at);
      const found = /[`*_~[!]/.test(rest.charAt(0)) ? firstMatch(paints, rest) : undefined;
      const inWord = rest.startsWith("_") && /\w$/.test(plain);
      if (found === undefined || inWord) {
        const skipped = /^\\[`*_~[\]!#|]/.test(rest) ? 1 : 0;
        plain += rest.charAt(skipped);
        at += skipped + 1;
        continue;
      }
      flush();
      spans.push(...found.spans);
      at += found.length;
    }
    flush();
    return spans;
  }

  #endTable(): readonly string[] {
    const rows = this.#table;
    this.#table = [];
    return rows.length === 0 ? [] : this.#tableRows(rows);
  }

  /** Columns as wide as their widest cell; where that is more than there is room for, as it was written. */
  #tableRows(lines: readonly string[]): readonly string[] {
    const { color } = this.#out;
    const rows = lines.filter((line) => !TABLE_LINE.test(line)).map((line) => this.#cells(line));
    const widths: number[] = [];
    for (const row of rows)
      row.forEach((cell, column) => {
        widths[column] = Math.max(widths[column] ?? 0, cellWidth(cell));
      });
    const total = widths.reduce((sum, width) => sum + width + 2, 0);
    if (total >= this.#columns()) return lines.flatMap((line) => this.#rowsOf(line));
    const hasHead = TABLE_LINE.test(lines[1] ?? "");
    return rows.map((row, index) => {
      const text = row
        .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - cellWidth(cell) + 2))
        .join("")
        .trimEnd();
      return hasHead && index === 0 ? color.bold(text) : text;
    });
  }

  #cells(line: string): readonly string[] {
    return visibleLines(line)
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => wrapSpans(this.#inline(cell.trim()), { width: 10_000 }).join(""));
  }
}

function firstMatch(
  paints: readonly [RegExp, (match: RegExpExecArray) => readonly Span[]][],
  text: string,
): { readonly spans: readonly Span[]; readonly length: number } | undefined {
  for (const [pattern, spansOf] of paints) {
    const match = pattern.exec(text);
    if (match !== null) return { spans: spansOf(match), length: match[0].length };
  }
  return undefined;
}
