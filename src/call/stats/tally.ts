import { type Columns, decodeDuration, RARE, RARE_FIELDS } from "./columns.js";
import { percentiles } from "./percentiles.js";
import {
  type CallCounts,
  type CountedStatus,
  countedStatus,
  type JournalStats,
  noStatuses,
  type SeriesPoint,
  type TokenCounts,
} from "./stats.js";

export interface Piece {
  readonly columns: Columns;
  readonly from: number;
  /** Offsets of the time that is asked for: those in between count. */
  readonly low: number;
  readonly high: number;
}

/** Says of each row of a piece at which place it is counted; all at the first one, unless it says otherwise. */
export type PlaceOf = (piece: {
  readonly columns: Columns;
  readonly from: number;
  readonly into: Uint32Array;
}) => void;

export class Outcomes {
  readonly statuses: readonly (CountedStatus | undefined)[];
  readonly codes: readonly string[];
  /** How the question was answered, where one was asked. */
  readonly answers: readonly string[];
  /** By number: 1 where the call ran. */
  readonly ran: Uint8Array;

  constructor(names: ReadonlyMap<number, string>) {
    const size = largest(names) + 1;
    const parts = Array.from({ length: size }, (_, id) => (names.get(id) ?? ":").split(":"));
    this.statuses = parts.map(([status = ""]) => countedStatus(status));
    this.codes = parts.map(([, code = ""]) => code);
    this.answers = parts.map(([, , answer = ""]) => answer);
    this.ran = Uint8Array.from(this.statuses, (status) =>
      status === "ok" || status === "error" || status === "timeout" ? 1 : 0,
    );
  }
}

/** Sums of one way to group the calls. */
export class Tally {
  readonly #outcomes: Outcomes;
  /** By place and outcome. */
  readonly #counts: Uint32Array;
  readonly #chars: Float64Array;
  /** By place and field. */
  readonly #rare: Float64Array;
  /** Durations of what ran, place after place. */
  readonly #durations: Uint32Array;
  readonly #starts: Uint32Array;
  readonly rows: number;

  constructor(options: {
    readonly places: number;
    readonly placeOf: PlaceOf;
    readonly outcomes: Outcomes;
    readonly pieces: readonly Piece[];
  }) {
    const { places, placeOf, outcomes, pieces } = options;
    const kinds = outcomes.statuses.length;
    this.#outcomes = outcomes;
    const counts = new Uint32Array(places * kinds);
    const sumOfChars = new Float64Array(places);
    this.#counts = counts;
    this.#chars = sumOfChars;
    this.#rare = new Float64Array(places * RARE_FIELDS);
    const didRun = outcomes.ran;
    const most = pieces.reduce((sum, { columns }) => sum + columns.rows, 0);
    const placeOfRan = new Uint32Array(most);
    const durationOfRan = new Uint32Array(most);
    const starts = new Uint32Array(places + 1);
    let ran = 0;
    let seen = 0;
    for (const { columns, from, low, high } of pieces) {
      const { rows, at, outcome, chars, duration, rare } = columns;
      const placed = new Uint32Array(rows);
      placeOf({ columns, from, into: placed });
      for (let row = 0; row < rows; row += 1) {
        const when = at[row] as number;
        if (when < low || when >= high) continue;
        const place = placed[row] as number;
        const kind = outcome[row] as number;
        const cell = place * kinds + kind;
        counts[cell] = (counts[cell] as number) + 1;
        sumOfChars[place] = (sumOfChars[place] as number) + (chars[row] as number);
        seen += 1;
        if (didRun[kind] !== 1) continue;
        placeOfRan[ran] = place;
        durationOfRan[ran] = duration[row] as number;
        starts[place + 1] = (starts[place + 1] as number) + 1;
        ran += 1;
      }
      for (let index = 0; index < rare.length; index += 3) {
        const row = rare[index] as number;
        const when = at[row] as number;
        if (when < low || when >= high) continue;
        const cell = (placed[row] as number) * RARE_FIELDS + (rare[index + 1] as number);
        this.#rare[cell] = (this.#rare[cell] as number) + (rare[index + 2] as number);
      }
    }
    for (let place = 0; place < places; place += 1)
      starts[place + 1] = (starts[place + 1] as number) + (starts[place] as number);
    this.rows = seen;
    this.#starts = starts;
    this.#durations = new Uint32Array(ran);
    const next = starts.slice();
    for (let index = 0; index < ran; index += 1) {
      const place = placeOfRan[index] as number;
      const slot = next[place] as number;
      this.#durations[slot] = durationOfRan[index] as number;
      next[place] = slot + 1;
    }
  }

  calls(place: number): number {
    const kinds = this.#outcomes.statuses.length;
    let sum = 0;
    for (const count of this.#counts.subarray(place * kinds, (place + 1) * kinds)) sum += count;
    return sum;
  }

  byStatus(place: number): Readonly<Record<CountedStatus, number>> {
    const sums = noStatuses();
    this.#eachOutcome(place, (count, status) => {
      sums[status] += count;
    });
    return sums;
  }

  #eachOutcome(place: number, visit: (count: number, status: CountedStatus, code: string) => void): void {
    const { statuses, codes } = this.#outcomes;
    for (const [kind, status] of statuses.entries()) {
      const count = this.#counts[place * statuses.length + kind] ?? 0;
      if (count > 0 && status !== undefined) visit(count, status, codes[kind] ?? "");
    }
  }

  percentiles(place: number): Pick<SeriesPoint, "p50_ms" | "p95_ms" | "p99_ms"> {
    const durations = this.#durations.subarray(this.#starts[place], this.#starts[place + 1]);
    if (durations.length === 0) return {};
    const [p50 = 0, p95 = 0, p99 = 0] = percentiles(durations, [50, 95, 99]);
    return { p50_ms: decodeDuration(p50), p95_ms: decodeDuration(p95), p99_ms: decodeDuration(p99) };
  }

  counts(place: number): CallCounts {
    const calls = this.calls(place);
    const status = this.byStatus(place);
    const errors = status.error + status.timeout + status.unknown;
    const codes: Record<string, number> = {};
    this.#eachOutcome(place, (count, ended, code) => {
      if (ended !== "ok" && code !== "") codes[code] = (codes[code] ?? 0) + count;
    });
    const chars = this.#chars[place] ?? 0;
    return {
      calls,
      errors,
      error_rate: errors / calls,
      by_status: status,
      errors_by_code: codes,
      ...this.percentiles(place),
      result_chars: chars,
      bytes: chars + this.#sum(place, RARE.moreBytes),
      queued_ms: rounded(this.#sum(place, RARE.queuedMs)),
      approval_wait_ms: rounded(this.#sum(place, RARE.approvalWaitMs)),
      repairs: this.#sum(place, RARE.repairs),
      retries: this.#sum(place, RARE.retries),
      tokens: {
        ...addTokens(this.#tokens(place, RARE.billed), this.#tokens(place, RARE.unbilled)),
        result: Math.ceil(chars / 4),
      },
      cost_usd: this.#sum(place, RARE.billed.costUsd) + this.#sum(place, RARE.unbilled.costUsd),
    };
  }

  unbilled(place: number): JournalStats["unbilled"] {
    return {
      tokens: this.#tokens(place, RARE.unbilled),
      cost_usd: this.#sum(place, RARE.unbilled.costUsd),
    };
  }

  #tokens(place: number, fields: typeof RARE.billed | typeof RARE.unbilled): TokenCounts {
    return {
      input: this.#sum(place, fields.input),
      cached: this.#sum(place, fields.cached),
      cache_write: this.#sum(place, fields.cacheWrite),
      output: this.#sum(place, fields.output),
      result: 0,
    };
  }

  #sum(place: number, field: number): number {
    return this.#rare[place * RARE_FIELDS + field] ?? 0;
  }
}

function addTokens(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    input: one.input + other.input,
    cached: one.cached + other.cached,
    cache_write: one.cache_write + other.cache_write,
    output: one.output + other.output,
    result: one.result + other.result,
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export function largest(names: ReadonlyMap<number, unknown>): number {
  let most = 0;
  for (const id of names.keys()) if (id > most) most = id;
  return most;
}
