import { LruMap } from "../../base/lru.js";
import { isRecord } from "../../base/record.js";
import { type Database, type SqlRow, textOfBlob } from "../../store/driver.js";
import { rollback } from "../../store/migrations.js";
import { appendPacked, BYTES_PER_ROW, type CountedCall, packColumns, RARE } from "./columns.js";
import { countedStatus } from "./stats.js";

/** Rows that are counted in one transaction: others wait that long, about 20 µs for each on a busy machine. */
const SLICE = 200;
const LARGE_SLICE = 4_000;
/** Rows of a piece; the last one is written anew as it grows. */
const PIECE = 8_192;
/** A piece counts time from its beginning in 32 bits; far less than they hold. */
const LONGEST_PIECE_MS = 20 * 24 * 60 * 60 * 1000;
const NAME_CHARS = 200;
/** Names whose numbers are at hand: of sessions that call at the same time, and of what they call. */
const KNOWN = 1_000;
const MESSAGE_CHARS = 500;

const ROW = "seq, running, CAST(detail AS BLOB) AS detail";

/**
 * Counts the calls that have come since it was last asked. It follows the numbers of the rows; one that was still running
 * when it passed is looked at again. Several processes may do this at once: each slice is one transaction.
 */
export class RollUp {
  readonly #db: Database;
  readonly #names: Names;

  constructor(db: Database) {
    this.#db = db;
    this.#names = new Names(db);
  }

  /** All that is there. */
  catchUp(): void {
    while (this.slice(LARGE_SLICE));
  }

  /** A little of it; true when there is more. */
  slice(most = SLICE): boolean {
    if (!this.#isBehind()) return false;
    const db = this.#db;
    db.exec("BEGIN IMMEDIATE");
    try {
      const more = this.#countSlice(most);
      db.exec("COMMIT");
      return more;
    } catch (error) {
      this.#names.forget();
      rollback(db);
      throw error;
    }
  }

  #cursor(): number {
    return Number(this.#db.prepare("SELECT seq FROM stats_cursor").get()?.seq ?? 0);
  }

  #isBehind(): boolean {
    const last = Number(this.#db.prepare("SELECT max(seq) AS seq FROM calls").get()?.seq ?? 0);
    return last > this.#cursor() || this.#db.prepare("SELECT 1 FROM stats_open LIMIT 1").get() !== undefined;
  }

  #countSlice(most: number): boolean {
    const db = this.#db;
    const cursor = this.#cursor();
    const later = db.prepare(`SELECT ${ROW} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?`).all(cursor, most);
    const waiting = db.prepare("SELECT seq FROM stats_open").all();
    const find = db.prepare(`SELECT ${ROW} FROM calls WHERE seq = ?`);
    const close = db.prepare("DELETE FROM stats_open WHERE seq = ?");
    const ended = waiting.flatMap(({ seq = 0 }): readonly SqlRow[] => {
      const row = find.get(seq);
      if (row?.running === 1) return [];
      close.run(seq);
      return row === undefined ? [] : [row];
    });
    const rows = [...ended, ...later.filter((row) => row.running !== 1)].flatMap(
      (row) => readCall(row) ?? [],
    );
    this.#add(rows.flatMap((row) => this.#counted(row) ?? []));
    this.#noteErrors(rows);
    for (const row of later) {
      if (row.running === 1) db.prepare("INSERT OR IGNORE INTO stats_open VALUES (?)").run(Number(row.seq));
    }
    const last = later.at(-1)?.seq;
    if (last !== undefined)
      db.prepare("INSERT OR REPLACE INTO stats_cursor (only, seq) VALUES (1, ?)").run(Number(last));
    return later.length === most;
  }

  #counted({ intent, outcome }: ReadCall): CountedCall | undefined {
    const status = countedStatus(textOf(outcome.status) || "unknown");
    if (status === undefined) return undefined;
    const key = [intent.tool, intent.toolset, intent.model ?? outcome.model, intent.environment, intent.door];
    const chars = numberOf(outcome.result_chars);
    const code = status === "ok" ? "" : textOf(outcome.error_code);
    return {
      key: this.#names.idOf("key", JSON.stringify(key.map((name) => textOf(name).slice(0, NAME_CHARS)))),
      session: this.#names.idOf("session", textOf(intent.session_id)),
      outcome: this.#names.idOf("outcome", `${status}:${code}:${answerIn(intent)}`),
      at: numberOf(intent.started_at),
      durationMs: numberOf(outcome.duration_ms),
      chars,
      rare: rareOf(intent, outcome),
    };
  }

  #add(calls: readonly CountedCall[]): void {
    if (calls.length === 0) return;
    const db = this.#db;
    const first = Math.min(...calls.map(({ at }) => at));
    const last = Math.max(...calls.map(({ at }) => at));
    const tail = db.prepare("SELECT * FROM stats_pieces ORDER BY id DESC LIMIT 1").get();
    const from = Number(tail?.from_ms ?? 0);
    if (
      tail === undefined ||
      Number(tail.rows) + calls.length > PIECE ||
      first < from ||
      last - from > LONGEST_PIECE_MS
    ) {
      const { dense, rare } = packColumns(calls, first);
      db.prepare("INSERT INTO stats_pieces (from_ms, to_ms, rows, rare, dense) VALUES (?, ?, ?, ?, ?)").run(
        first,
        last,
        calls.length,
        rare,
        dense,
      );
      return;
    }
    const rows = Number(tail.rows);
    const { dense, rare } = appendPacked(
      { rows, dense: tail.dense as Uint8Array, rare: tail.rare as Uint8Array },
      calls,
      from,
    );
    db.prepare("UPDATE stats_pieces SET to_ms = ?, rows = ?, rare = ?, dense = ? WHERE id = ?").run(
      Math.max(last, Number(tail.to_ms)),
      rows + calls.length,
      rare,
      dense,
      Number(tail.id),
    );
  }

  #noteErrors(rows: readonly ReadCall[]): void {
    const last = new Map<string, ReadCall>();
    for (const row of rows) {
      const { status } = row.outcome;
      if (status === "error" || status === "timeout") last.set(textOf(row.intent.tool), row);
    }
    const note = this.#db.prepare(
      `INSERT INTO stats_errors (tool, at, message) VALUES (?1, ?2, ?3)
       ON CONFLICT (tool) DO UPDATE SET at = ?2, message = ?3 WHERE at <= ?2`,
    );
    for (const [tool, { intent, outcome }] of last) {
      const message = textOf(outcome.error_message) || textOf(outcome.error_code);
      note.run(
        tool.slice(0, NAME_CHARS),
        numberOf(intent.started_at),
        Buffer.from(message.slice(0, MESSAGE_CHARS)),
      );
    }
  }

  /** Removes the oldest counts, until all together take no more than this. */
  trim(maxBytes: number): void {
    const pieces = this.#db
      .prepare("SELECT id, rows, length(rare) AS rare FROM stats_pieces ORDER BY id DESC")
      .all();
    let left = maxBytes;
    const tooOld = pieces.find(({ rows, rare }) => {
      left -= Number(rows) * BYTES_PER_ROW + Number(rare);
      return left < 0;
    });
    if (tooOld === undefined) return;
    this.#db.prepare("DELETE FROM stats_pieces WHERE id <= ?").run(Number(tooOld.id));
    this.#names.dropUnused();
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** A document as it is stored. */
interface ReadCall {
  readonly intent: Fields;
  readonly outcome: Fields;
}

const NO_FIELDS: Fields = {};

/** Less than `decodeRow` does, which is for one call at a time; undefined for what cannot be read. */
function readCall({ detail }: SqlRow): ReadCall | undefined {
  try {
    const intent: unknown = JSON.parse(textOfBlob(detail));
    if (!isRecord(intent) || typeof intent.tool !== "string") return undefined;
    return { intent, outcome: isRecord(intent.outcome) ? intent.outcome : NO_FIELDS };
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function rareOf(intent: Fields, outcome: Fields): CountedCall["rare"] {
  const rare: (readonly [number, number])[] = [];
  const add = (field: number, value: number) => {
    if (value !== 0) rare.push([field, value]);
  };
  if (outcome.result_bytes !== undefined)
    add(RARE.moreBytes, numberOf(outcome.result_bytes) - numberOf(outcome.result_chars));
  add(RARE.queuedMs, numberOf(intent.queued_ms));
  add(RARE.approvalWaitMs, numberOf(intent.approval_wait_ms));
  add(RARE.repairs, repairsIn(outcome.repairs));
  add(RARE.retries, numberOf(outcome.retries));
  const usage = outcome.unbilled === true ? RARE.unbilled : RARE.billed;
  add(usage.input, numberOf(outcome.input_tokens));
  add(usage.cached, numberOf(outcome.cached_tokens));
  add(usage.cacheWrite, numberOf(outcome.cache_write_tokens));
  add(usage.output, numberOf(outcome.output_tokens));
  add(usage.costUsd, numberOf(outcome.cost_usd));
  return rare;
}

function answerIn({ decision }: Fields): string {
  const answer = textOf(decision);
  return answer.startsWith("ask:") ? answer.slice("ask:".length) : "";
}

function repairsIn(repairs: unknown): number {
  if (typeof repairs !== "string") return 0;
  try {
    const list: unknown = JSON.parse(repairs);
    return Array.isArray(list) ? list.length : 0;
  } catch {
    return 1;
  }
}

/** Every name stands once; the counts have its number. */
class Names {
  readonly #db: Database;
  /** Sessions come and go: those of a day would be some megabytes. */
  readonly #known = new LruMap<string, number>(KNOWN);

  constructor(db: Database) {
    this.#db = db;
  }

  idOf(kind: "key" | "session" | "outcome", text: string): number {
    const name = `${kind}\n${text}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = this.#find(kind, text) ?? this.#insert(kind, text);
    this.#known.set(name, id);
    return id;
  }

  #find(kind: string, text: string): number | undefined {
    const row = this.#db
      .prepare("SELECT id FROM stats_names WHERE kind = ? AND text = ?")
      .get(kind, Buffer.from(text));
    return row === undefined ? undefined : Number(row.id);
  }

  #insert(kind: string, text: string): number {
    return this.#db.prepare("INSERT INTO stats_names (kind, text) VALUES (?, ?)").run(kind, Buffer.from(text))
      .lastInsertRowid;
  }

  forget(): void {
    this.#known.clear();
  }

  /** Names of sessions that nothing counts any more. */
  dropUnused(): void {
    const used = new Set<number>();
    for (const row of this.#db.prepare("SELECT rows, dense FROM stats_pieces").all()) {
      const rows = Number(row.rows);
      const bytes = row.dense as Uint8Array;
      const sessions = new Uint32Array(bytes.slice(rows * 4, rows * 8).buffer);
      for (const id of sessions) used.add(id);
    }
    const names = this.#db.prepare("SELECT id FROM stats_names WHERE kind = 'session'").all();
    const unused = names.flatMap(({ id }) => (used.has(Number(id)) ? [] : [Number(id)]));
    this.#db
      .prepare("DELETE FROM stats_names WHERE id IN (SELECT value FROM json_each(?))")
      .run(JSON.stringify(unused));
    this.#known.clear();
  }
}

/** The names behind the numbers, by number. */
export function readNames(db: Database, kind: "key" | "session" | "outcome"): ReadonlyMap<number, string> {
  const rows = db.prepare("SELECT id, text FROM stats_names WHERE kind = ?").all(kind);
  return new Map(rows.map((row) => [Number(row.id), textOfBlob(row.text)]));
}
