/** Rows that a value holds, and where they stand in it. */
export interface FoundTable {
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
}

const MOST_ROWS = 500;
const MOST_COLUMNS = 12;
const DEEPEST = 3;

/** The first list of records, breadth first; undefined where nothing looks like a table. */
export function tableOf(value: unknown): FoundTable | undefined {
  let level: readonly (readonly [path: string, value: unknown])[] = [["", value]];
  for (let depth = 0; depth <= DEEPEST; depth += 1) {
    for (const [path, inner] of level) {
      if (!Array.isArray(inner) || inner.length === 0 || !inner.every(isRecord)) continue;
      const rows = inner.slice(0, MOST_ROWS) as Readonly<Record<string, unknown>>[];
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
      if (columns.length > 0) return { path, columns, rows, total: inner.length };
    }
    level = level.flatMap(([path, inner]) =>
      isRecord(inner)
        ? Object.entries(inner).map(
            ([key, one]) => [path === "" ? key : `${path}.${key}`, one] as [string, unknown],
          )
        : [],
    );
  }
  return undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
