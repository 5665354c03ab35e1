/** What a model reads of a result at once; programs get all of it. */
const MAX_CHARS = 50_000;
const MAX_VALUE_CHARS = 4_000;

type Row = readonly unknown[] | Readonly<Record<string, unknown>>;

/** The rows that fit into a model's text, long values cut, and how many were left out. */
export function shownRows(rows: readonly Row[]): { readonly rows: readonly Row[]; readonly leftOut: number } {
  const shown: Row[] = [];
  let room = MAX_CHARS;
  for (const row of rows) {
    const short: Row = Array.isArray(row)
      ? row.map(shortValue)
      : Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shortValue(value)]));
    room -= JSON.stringify(short).length;
    if (room < 0 && shown.length > 0) break;
    shown.push(short);
  }
  return { rows: shown, leftOut: rows.length - shown.length };
}

function shortValue(value: unknown): unknown {
  return typeof value === "string" && value.length > MAX_VALUE_CHARS
    ? `${value.slice(0, MAX_VALUE_CHARS)}… (${value.length} characters)`
    : value;
}
