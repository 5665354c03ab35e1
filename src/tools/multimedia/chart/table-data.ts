import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** More points than this make no picture that anybody could read. */
const MAX_ROWS = 50_000;

/**
 * Rows of named cells, from any of the shapes that tables come in: a list of objects, a list of lists with a heading,
 * plain numbers, columns by name, or values by name.
 */
export function tableOf(data: unknown): readonly Row[] {
  const rows = Array.isArray(data) ? fromList(data) : isRecord(data) ? fromObject(data) : undefined;
  if (rows === undefined || rows.length === 0) {
    throw new ToolError("data holds no rows.", {
      code: "invalid_arguments",
      hint: 'Give a list of objects, e.g. [{"month": "Jan", "sales": 3}], or the name of a CSV or JSON file.',
    });
  }
  if (rows.length > MAX_ROWS) {
    throw new ToolError(`data has ${rows.length} rows; at most ${MAX_ROWS} are drawn.`, {
      code: "invalid_arguments",
      hint: "Sum it up first, for example with execute_code.",
    });
  }
  return withNumbers(rows);
}

function fromList(list: readonly unknown[]): readonly Row[] {
  if (list.every(isRecord)) return list.map((row) => rowOf(Object.entries(row)));
  if (list.every(Array.isArray)) {
    const [head = [], ...rest] = list as readonly (readonly unknown[])[];
    const named =
      rest.length > 0 && head.every((cell) => typeof cell === "string" && Number.isNaN(Number(cell)));
    const names = named ? head.map(String) : head.map((_, at) => ["x", "y"][at] ?? `column ${at + 1}`);
    return (named ? rest : [head, ...rest]).map((cells) => rowOf(names.map((name, at) => [name, cells[at]])));
  }
  return list.map((value, at) =>
    rowOf([
      ["index", at + 1],
      ["value", value],
    ]),
  );
}

function fromObject(object: Readonly<Record<string, unknown>>): readonly Row[] {
  const columns = Object.entries(object);
  const lists = columns.filter((column): column is [string, unknown[]] => Array.isArray(column[1]));
  if (lists.length > 0 && lists.length === columns.length) {
    const length = Math.max(...lists.map(([, cells]) => cells.length));
    return Array.from({ length }, (_, at) => rowOf(lists.map(([name, cells]) => [name, cells[at]])));
  }
  return lists.length > 0
    ? []
    : columns.map(([label, value]) =>
        rowOf([
          ["label", label],
          ["value", value],
        ]),
      );
}

function rowOf(cells: readonly (readonly [string, unknown])[]): Row {
  return Object.fromEntries(cells.map(([name, value]) => [name, cellOf(value)]));
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined || value === "") return null;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A column whose every text is a number holds numbers. */
function withNumbers(rows: readonly Row[]): readonly Row[] {
  const numeric = columnsOf(rows).filter((name) => {
    const cells = rows.map((row) => row[name] ?? null).filter((cell) => cell !== null);
    return (
      cells.some((cell) => typeof cell === "string") && cells.every((cell) => !Number.isNaN(asNumber(cell)))
    );
  });
  if (numeric.length === 0) return rows;
  return rows.map((row) => {
    const changed = numeric.map((name) => {
      const cell = row[name] ?? null;
      return [name, cell === null ? null : asNumber(cell)] as const;
    });
    return { ...row, ...Object.fromEntries(changed) };
  });
}

/** "08" and "0041" are names that consist of digits. */
function asNumber(cell: string | number): number {
  if (typeof cell === "number") return cell;
  return /^\s*[-+]?(?:\d|\.\d)/.test(cell) && !/^\s*0\d/.test(cell) ? Number(cell) : Number.NaN;
}

export function columnsOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

export function isNumeric(rows: readonly Row[], name: string): boolean {
  const cells = rows.map((row) => row[name] ?? null).filter((cell) => cell !== null);
  return cells.length > 0 && cells.every((cell) => typeof cell === "number");
}

const DATE = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?$/;

export function isDate(cell: Cell): boolean {
  return typeof cell === "string" && DATE.test(cell) && !Number.isNaN(instantOf(cell));
}

/** Without a zone, the same day everywhere. */
export function instantOf(text: string): number {
  const spelled = text.replace(" ", "T");
  return Date.parse(/T/.test(spelled) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(spelled) ? `${spelled}Z` : spelled);
}
