import { type Database, textOfBlob } from "../../store/driver.js";
import { viewColumns } from "./columns.js";
import { readNames } from "./roll-up.js";
import {
  type Dimension,
  type GroupStats,
  type JournalStats,
  noStats,
  type SeriesPoint,
  type StatsFilter,
  type StatsQuery,
  type ToolStats,
} from "./stats.js";
import { largest, Outcomes, type Piece, type PlaceOf, Tally } from "./tally.js";
import { spanFor } from "./time-spans.js";

/** More groups than anybody looks at; the busiest are told. */
const MOST_GROUPS = 1_000;
const KEY_FIELDS = ["tool", "toolset", "model", "environment", "door"] as const;

/** Counts calls in the columns, exactly, whatever time they are asked for. */
export function computeStats(db: Database, query: StatsQuery): JournalStats {
  const { sinceMs, by } = query;
  const untilMs = query.untilMs ?? Date.now() + 1;
  const keys = readNames(db, "key");
  const all = readPieces(db, { sinceMs, untilMs });
  const pieces = query.only === undefined ? all : only(query.only, { db, keys, pieces: all });
  const outcomes = new Outcomes(readNames(db, "outcome"));
  const tally = (places: number, placeOf: PlaceOf) => new Tally({ places, placeOf, outcomes, pieces });
  const count = (dimension: Dimension): Grouped => {
    const { names, places } =
      dimension === "session" ? placesOf(readNames(db, "session")) : placesOf(fieldOfKeys(keys, dimension));
    const column = dimension === "session" ? "session" : "key";
    return {
      names,
      places,
      column,
      tally: tally(names.length, ({ columns, into }) => {
        const ids = columns[column];
        for (let row = 0; row < ids.length; row += 1) into[row] = places[ids[row] as number] as number;
      }),
    };
  };
  const whole = tally(1, () => undefined);
  if (whole.rows === 0) return { ...noStats(), ...emptyParts(query) };
  const tools = count("tool");
  const errors = lastErrors(db, sinceMs);
  const groups = by === undefined ? undefined : by === "tool" ? tools : count(by);
  return {
    total: whole.counts(0),
    unbilled: whole.unbilled(0),
    tools: counted(tools).map(
      ({ key, ...counts }): ToolStats => ({ tool: key, ...counts, last_error: errors.get(key) }),
    ),
    ...(groups !== undefined && {
      groups:
        query.series === true
          ? withSparks(counted(groups), sparksOf(groups, { sinceMs, untilMs, pieces }))
          : counted(groups),
    }),
    ...(query.series === true && { series: seriesOf({ sinceMs, untilMs, tally }) }),
  };
}

interface Grouped {
  readonly names: readonly string[];
  readonly places: readonly number[] | Uint32Array;
  readonly column: "session" | "key";
  readonly tally: Tally;
}

/** Parts of the time that the small line of a group is drawn with. */
const SPARKS = 24;

/** How many calls each group had in each part of the time. */
function sparksOf(
  { names, places, column }: Grouped,
  span: { readonly sinceMs: number; readonly untilMs: number; readonly pieces: readonly Piece[] },
): ReadonlyMap<string, readonly number[]> {
  const counts = new Uint32Array(names.length * SPARKS);
  const width = Math.max(1, span.untilMs - span.sinceMs) / SPARKS;
  for (const { columns, low, high } of span.pieces) {
    const ids = columns[column];
    const { at } = columns;
    for (let row = 0; row < at.length; row += 1) {
      const offset = at[row] as number;
      if (offset < low || offset >= high) continue;
      const part = Math.min(SPARKS - 1, Math.floor((offset - low) / width));
      const place = (places[ids[row] as number] as number) * SPARKS + part;
      counts[place] = (counts[place] as number) + 1;
    }
  }
  return new Map(
    names.map((name, place) => [name, [...counts.subarray(place * SPARKS, (place + 1) * SPARKS)]]),
  );
}

function withSparks(
  groups: readonly GroupStats[],
  sparks: ReadonlyMap<string, readonly number[]>,
): readonly GroupStats[] {
  return groups.map((group) => ({ ...group, spark: sparks.get(group.key) }));
}

function emptyParts({ by, series }: StatsQuery): Pick<JournalStats, "groups" | "series"> {
  return { ...(by !== undefined && { groups: [] }), ...(series === true && { series: [] }) };
}

function counted({ names, tally }: { readonly names: readonly string[]; readonly tally: Tally }) {
  return names
    .map((key, place) => ({ key, place, calls: tally.calls(place) }))
    .filter(({ calls }) => calls > 0)
    .sort((first, second) => second.calls - first.calls || (first.key < second.key ? -1 : 1))
    .slice(0, MOST_GROUPS)
    .map(({ key, place }): GroupStats => ({ key, ...tally.counts(place) }));
}

function seriesOf(options: {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly tally: (places: number, placeOf: PlaceOf) => Tally;
}): readonly SeriesPoint[] {
  const { sinceMs, untilMs } = options;
  const span = spanFor(untilMs - sinceMs);
  const first = Math.floor(sinceMs / span) * span;
  const places = Math.max(1, Math.ceil((untilMs - first) / span));
  const tally = options.tally(places, ({ columns: { at }, from, into }) => {
    for (let row = 0; row < at.length; row += 1)
      into[row] = Math.min(places - 1, Math.max(0, Math.floor((from - first + (at[row] as number)) / span)));
  });
  return Array.from({ length: places }, (_, place) => ({
    at: first + place * span,
    by_status: tally.byStatus(place),
    ...tally.percentiles(place),
  }));
}

export function readPieces(
  db: Database,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): readonly Piece[] {
  return db
    .prepare("SELECT from_ms, rows, rare, dense FROM stats_pieces WHERE to_ms >= ? AND from_ms < ?")
    .all(sinceMs, untilMs)
    .map((row) => {
      const from = Number(row.from_ms);
      const columns = viewColumns({
        rows: Number(row.rows),
        dense: row.dense as Uint8Array,
        rare: row.rare as Uint8Array,
      });
      return { columns, from, low: sinceMs - from, high: untilMs - from };
    });
}

/** A moment that no piece reaches, and after all that can be asked for. */
const NEVER = 0xffff_ffff;

/** Those who count look at the time first: what does not match is moved out of it. */
function only(
  filter: StatsFilter,
  counted: {
    readonly db: Database;
    readonly keys: ReadonlyMap<number, string>;
    readonly pieces: readonly Piece[];
  },
): readonly Piece[] {
  const { session, ...fields } = filter;
  const keys = idsWhere(counted.keys, (json) => {
    const parts = JSON.parse(json) as readonly string[];
    return KEY_FIELDS.every((field, index) => (fields[field] ?? parts[index]) === parts[index]);
  });
  const sessions =
    session === undefined ? undefined : idsWhere(readNames(counted.db, "session"), (id) => id === session);
  return counted.pieces.map((piece) => {
    const { columns } = piece;
    const at = columns.at.slice();
    for (let row = 0; row < at.length; row += 1) {
      const matches =
        keys[columns.key[row] as number] === 1 &&
        (sessions === undefined || sessions[columns.session[row] as number] === 1);
      if (!matches) at[row] = NEVER;
    }
    return { ...piece, columns: { ...columns, at }, high: Math.min(piece.high, NEVER) };
  });
}

/** By number: 1 where the name is wanted. */
function idsWhere(names: ReadonlyMap<number, string>, wanted: (name: string) => boolean): Uint8Array {
  const found = new Uint8Array(largest(names) + 1);
  for (const [id, name] of names) if (wanted(name)) found[id] = 1;
  return found;
}

function fieldOfKeys(keys: ReadonlyMap<number, string>, dimension: Exclude<Dimension, "session">) {
  const index = KEY_FIELDS.indexOf(dimension);
  const fields = new Map<number, string>();
  for (const [id, json] of keys) {
    const parts = JSON.parse(json) as readonly string[];
    fields.set(id, parts[index] ?? "");
  }
  return fields;
}

/** One place for each name, and the place of each number. */
function placesOf(names: ReadonlyMap<number, string>): { names: readonly string[]; places: Uint32Array } {
  const places = new Uint32Array(largest(names) + 1);
  const found = new Map<string, number>();
  for (const [id, name] of names) {
    const place = found.get(name) ?? found.size;
    found.set(name, place);
    places[id] = place;
  }
  return { names: [...found.keys()], places };
}

function lastErrors(db: Database, sinceMs: number): ReadonlyMap<string, string> {
  const rows = db
    .prepare("SELECT CAST(tool AS BLOB) AS tool, message FROM stats_errors WHERE at >= ?")
    .all(sinceMs);
  return new Map(rows.map((row) => [textOfBlob(row.tool), textOfBlob(row.message)]));
}
