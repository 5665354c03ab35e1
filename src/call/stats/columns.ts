/**
 * What is counted of calls, in columns: about 22 bytes a call instead of the 600 of its row, and a million of them can be
 * read in a moment. Everything else there is to count is rare, and stands in `rare` as position, field and number.
 */
export interface Columns {
  readonly rows: number;
  readonly key: Uint32Array;
  readonly session: Uint32Array;
  /** Milliseconds after `from`. */
  readonly at: Uint32Array;
  readonly duration: Uint32Array;
  readonly chars: Uint32Array;
  readonly outcome: Uint16Array;
  readonly rare: Float64Array;
}

export const BYTES_PER_ROW = 22;

/** Fields of `rare`. Usage stands apart by whether the bill of a conversation has it, too. Numbers are never reused. */
export const RARE = {
  /** Bytes of the result beyond one for each character. */
  moreBytes: 0,
  queuedMs: 1,
  approvalWaitMs: 2,
  repairs: 3,
  retries: 4,
  billed: { input: 5, cached: 6, cacheWrite: 7, output: 8, costUsd: 9 },
  unbilled: { input: 10, cached: 11, cacheWrite: 12, output: 13, costUsd: 14 },
} as const;

export const RARE_FIELDS = 15;

export interface CountedCall {
  readonly key: number;
  readonly session: number;
  readonly at: number;
  readonly durationMs: number;
  readonly chars: number;
  readonly outcome: number;
  readonly rare: readonly (readonly [field: number, value: number])[];
}

const MOST = 0xffff_ffff;
/** From here on (36 minutes) whole milliseconds are counted: microseconds would not fit. The order stays. */
const LONG = 0x8000_0000;

export function encodeDuration(ms: number): number {
  const micros = Math.round(Math.max(0, ms) * 1000);
  return micros < LONG ? micros : Math.min(MOST, LONG + Math.round(ms));
}

export function decodeDuration(encoded: number): number {
  return encoded < LONG ? encoded / 1000 : encoded - LONG;
}

/** All columns one after the other, those of the widest numbers first. */
export function packColumns(calls: readonly CountedCall[], from: number): { dense: Buffer; rare: Buffer } {
  const rows = calls.length;
  const dense = Buffer.alloc(rows * BYTES_PER_ROW);
  const columns = viewColumns({ rows, dense, rare: new Uint8Array() });
  const rare: number[] = [];
  calls.forEach((call, row) => {
    columns.key[row] = call.key;
    columns.session[row] = call.session;
    columns.at[row] = Math.min(MOST, Math.max(0, call.at - from));
    columns.duration[row] = encodeDuration(call.durationMs);
    columns.chars[row] = Math.min(MOST, call.chars);
    columns.outcome[row] = call.outcome;
    for (const [field, value] of call.rare) rare.push(row, field, value);
  });
  return { dense, rare: Buffer.from(new Float64Array(rare).buffer) };
}

export function viewColumns(packed: {
  readonly rows: number;
  readonly dense: Uint8Array;
  readonly rare: Uint8Array;
}): Columns {
  const { rows } = packed;
  const dense = aligned(packed.dense, 4);
  const rare = aligned(packed.rare, 8);
  const column = (index: number) => new Uint32Array(dense.buffer, dense.byteOffset + index * rows * 4, rows);
  return {
    rows,
    key: column(0),
    session: column(1),
    at: column(2),
    duration: column(3),
    chars: column(4),
    outcome: new Uint16Array(dense.buffer, dense.byteOffset + rows * 20, rows),
    rare: new Float64Array(rare.buffer, rare.byteOffset, Math.floor(rare.length / 8)),
  };
}

/** Views of numbers begin at a multiple of their width. */
function aligned(bytes: Uint8Array, width: number): Uint8Array {
  return bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes);
}

/** Adds rows behind those of another piece that begins at the same moment. */
export function appendPacked(
  before: { readonly rows: number; readonly dense: Uint8Array; readonly rare: Uint8Array },
  calls: readonly CountedCall[],
  from: number,
): { readonly dense: Buffer; readonly rare: Buffer } {
  const old = viewColumns(before);
  const added = packColumns(calls, from);
  const rows = before.rows + calls.length;
  const dense = Buffer.alloc(rows * BYTES_PER_ROW);
  const all = viewColumns({ rows, dense, rare: new Uint8Array() });
  const fresh = viewColumns({ rows: calls.length, ...added });
  for (const name of ["key", "session", "at", "duration", "chars", "outcome"] as const) {
    all[name].set(old[name]);
    all[name].set(fresh[name], before.rows);
  }
  const rare = new Float64Array(old.rare.length + fresh.rare.length);
  rare.set(old.rare);
  rare.set(
    fresh.rare.map((value, index) => (index % 3 === 0 ? value + before.rows : value)),
    old.rare.length,
  );
  return { dense, rare: Buffer.from(rare.buffer) };
}
