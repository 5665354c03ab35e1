import { columns as inColumns, mark } from "../../../tool/marked-text.js";
import { shownRows } from "../shown-rows.js";
import type { Cell, DescribedSheet } from "./sheet-job.js";

const SHOWN_ROWS = 40;
const SHOWN_CHARS = 40;
const SHOWN_FORMULAS = 20;

export interface SheetOutput {
  readonly success: true;
  readonly status: "success";
  readonly action: "read" | "write" | "append" | "update" | "query" | "convert" | "info";
  readonly path: string;
  readonly sheets: readonly (string | DescribedSheet)[];
  readonly sheet?: string | undefined;
  readonly range?: string | undefined;
  readonly columns?: readonly string[] | undefined;
  /** Lists of values, as they would be written; objects for a query. */
  readonly rows?: readonly (readonly Cell[] | Readonly<Record<string, unknown>>)[] | undefined;
  readonly row_count: number;
  readonly total_rows?: number | undefined;
  readonly truncated?: boolean | undefined;
  readonly formulas?: Readonly<Record<string, string>> | undefined;
  readonly bytes_written?: number | undefined;
  readonly note?: string | undefined;
}

export function modelText(out: SheetOutput): string {
  if (out.rows === undefined) return JSON.stringify(out);
  const { rows, leftOut } = shownRows(out.rows);
  const more = `Only ${rows.length} of ${out.row_count} rows are shown here: name a range, or query for less.`;
  return JSON.stringify({ ...out, rows, ...(leftOut > 0 && { left_out: more }) });
}

export function humanText(out: SheetOutput): string {
  const cell = (value: unknown) => {
    const line = (value === null || value === undefined ? "" : String(value)).replace(/\s+/g, " ");
    return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1)}…` : line;
  };
  const lines: string[] = [];
  if (out.action === "info") {
    const sheets = out.sheets.filter((sheet): sheet is DescribedSheet => typeof sheet !== "string");
    lines.push(
      inColumns(
        [
          ["sheet", "rows", "columns"].map(mark.heading),
          ...sheets.map((sheet) => [sheet.name, String(sheet.rows), String(sheet.columns)]),
        ],
        { right: [1, 2] },
      ),
    );
  } else if (out.rows === undefined) {
    const what = out.range === undefined ? "" : ` ${out.sheet ?? ""} ${out.range}`;
    lines.push(`wrote ${mark.path(out.path)}${what}${out.row_count > 0 ? ` (${out.row_count} rows)` : ""}`);
  } else {
    const rows = out.rows
      .slice(0, SHOWN_ROWS)
      .map((row) => (Array.isArray(row) ? row : Object.values(row)).map(cell));
    const isQuery = out.action === "query";
    const table = isQuery ? [(out.columns ?? []).map(mark.heading), ...rows] : rows;
    lines.push(inColumns(table));
    const formulas = Object.entries(out.formulas ?? {}).slice(0, SHOWN_FORMULAS);
    lines.push(...formulas.map(([at, formula]) => mark.dim(`${at} = ${formula.replace(/^=/, "")}`)));
    const more = rows.length < out.row_count || out.truncated === true;
    lines.push(
      mark.dim(`${out.row_count} row${out.row_count === 1 ? "" : "s"}${more ? ", there is more" : ""}`),
    );
  }
  if (out.note !== undefined) lines.push(mark.warning(out.note));
  return lines.join("\n");
}
