import type { QueryAnswer } from "./query-job.js";

/** A longer value is cut and counted: nobody reads a novel in a cell. */
const MAX_VALUE_CHARS = 100_000;

/** Keeps rows until a limit is reached, and says which one it was. */
export class RowCollector {
  readonly #limits: { readonly maxRows: number; readonly maxBytes: number };
  readonly #rows: Record<string, unknown>[] = [];
  #columns: readonly string[] = [];
  #bytes = 0;
  #cutValues = 0;
  #cutBy: QueryAnswer["cutBy"];

  constructor(limits: { readonly maxRows: number; readonly maxBytes: number }) {
    this.#limits = limits;
  }

  get full(): boolean {
    return this.#cutBy !== undefined;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#rows.length;
  }

  /** Columns of one name get numbers: a row is an object, and none may hide another. */
  setColumns(names: readonly string[]): void {
    const seen = new Map<string, number>();
    this.#columns = names.map((name) => {
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      return count === 1 ? name : `${name}_${count}`;
    });
  }

  /** Values in the order of the columns. False when this row and all that follow have no room. */
  add(values: readonly unknown[]): boolean {
    return this.addObject(Object.fromEntries(this.#columns.map((name, at) => [name, values[at]])));
  }

  /** The same for rows whose columns are not known beforehand. */
  addObject(found: Readonly<Record<string, unknown>>): boolean {
    if (this.full) return false;
    if (this.#rows.length >= this.#limits.maxRows) return this.#cut("rows");
    const row = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, this.#shown(value)]));
    const size = JSON.stringify(row).length;
    if (this.#bytes + size > this.#limits.maxBytes) return this.#cut("bytes");
    this.#bytes += size;
    this.#rows.push(row);
    return true;
  }

  answer(more: Pick<QueryAnswer, "changed" | "note"> = {}): QueryAnswer {
    return {
      rows: this.#rows,
      columns: this.#columns.length > 0 ? this.#columns : this.#namesInRows(),
      truncated: this.full,
      cutBy: this.#cutBy,
      cutValues: this.#cutValues,
      ...more,
    };
  }

  #cut(by: "rows" | "bytes"): false {
    this.#cutBy = by;
    return false;
  }

  #namesInRows(): readonly string[] {
    return [...new Set(this.#rows.flatMap((row) => Object.keys(row)))];
  }

  #shown(value: unknown): unknown {
    const plain = jsonValue(value);
    if (typeof plain === "string" && plain.length > MAX_VALUE_CHARS) {
      this.#cutValues += 1;
      return `${plain.slice(0, MAX_VALUE_CHARS)}… (${plain.length} characters)`;
    }
    return plain;
  }
}

/** What JSON can carry: exact numbers stay numbers, bytes become base64, dates ISO text. */
export function jsonValue(value: unknown): unknown {
  if (typeof value === "bigint")
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
      ? Number(value)
      : String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Uint8Array) return `base64:${Buffer.from(value).toString("base64")}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (Array.isArray(value)) return value.map(jsonValue);
  return value === undefined ? null : value;
}
