import { type Database, type SqlValue, textOfBlob } from "../store/driver.js";
import { isOwnerAlive } from "../store/process-owner.js";
import type { CallWithin, JournalRow, RecentQuery } from "./journal.js";
import { decodeRow } from "./journal-rows.js";

const ROW = "seq, running, CAST(owner AS BLOB) AS owner, CAST(detail AS BLOB) AS detail";

/** JSON functions refuse a damaged document and with it the whole query; NULL lets the others through. */
const SOUND_DETAIL = "CASE WHEN json_valid(detail) THEN detail END";

const STATUS = `coalesce(${SOUND_DETAIL} ->> '$.outcome.status', iif(running, 'running', 'unknown'))`;

export type JournalReader = ReturnType<typeof journalReader>;

export function journalReader(db: Database) {
  return {
    recent(query: RecentQuery): readonly JournalRow[] {
      const conditions: string[] = [];
      const values: SqlValue[] = [];
      const keep = (condition: string, ...operands: SqlValue[]) => {
        conditions.push(condition);
        values.push(...operands);
      };
      if (query.before !== undefined) keep("seq < ?", query.before);
      const is = (field: string, value: string | undefined) => {
        if (value !== undefined) keep(`${SOUND_DETAIL} ->> '$.${field}' = ?`, value);
      };
      is("tool", query.tool);
      is("session_id", query.sessionId);
      is("conversation", query.conversation);
      is("door", query.door);
      is("environment", query.environment);
      is("rule", query.rule);
      is("parent", query.parent);
      if (query.status !== undefined) keep(`${STATUS} = ?`, query.status);
      if (query.text !== undefined) {
        const part = query.text.toLowerCase();
        keep(
          `(instr(lower(${SOUND_DETAIL} ->> '$.tool'), ?) OR instr(lower(${SOUND_DETAIL} ->> '$.args'), ?))`,
          part,
          part,
        );
      }
      if (query.sinceMs !== undefined) {
        // A row is written after its call started; the first condition lets the index do most of the work.
        keep(`written_at >= ? AND ${SOUND_DETAIL} ->> '$.started_at' >= ?`, query.sinceMs, query.sinceMs);
      }
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const limit = Math.max(0, Math.min(Math.trunc(query.limit), 100_000));
      return db
        .prepare(`SELECT ${ROW} FROM calls ${where} ORDER BY seq DESC LIMIT ?`)
        .all(...values, limit)
        .map(decodeRow);
    },

    call(id: number | string, { conversation, sessionId }: CallWithin = {}): JournalRow | undefined {
      if (typeof id === "number") {
        const row = db.prepare(`SELECT ${ROW} FROM calls WHERE seq = ?`).get(id);
        return row === undefined ? undefined : decodeRow(row);
      }
      // A document begins with the id of its call, so none has to be taken apart to find it.
      const beginning = `{"call_id":${JSON.stringify(id)},`;
      const within = Object.entries({ conversation, session_id: sessionId }).flatMap(([field, value]) =>
        value === undefined ? [] : [{ field, value }],
      );
      const isWithin = within.map(({ field }) => `AND ${SOUND_DETAIL} ->> '$.${field}' = ?`).join(" ");
      const row = db
        .prepare(
          `SELECT ${ROW} FROM calls WHERE substr(detail, 1, ?) = ? ${isWithin} ORDER BY seq DESC LIMIT 1`,
        )
        .get([...beginning].length, beginning, ...within.map(({ value }) => value));
      return row === undefined ? undefined : decodeRow(row);
    },

    /** Of a call whose result stands in its own row. */
    shortResult(seq: number): string | undefined {
      const found = db
        .prepare(
          `SELECT CAST(${SOUND_DETAIL} ->> '$.outcome.result' AS BLOB) AS text FROM calls WHERE seq = ?`,
        )
        .get(seq);
      return found === undefined || found.text === null ? undefined : textOfBlob(found.text);
    },

    markDeadAsUnknown(): readonly JournalRow[] {
      const owners = db
        .prepare("SELECT DISTINCT CAST(owner AS BLOB) AS owner FROM calls WHERE running = 1")
        .all();
      return owners
        .filter((row) => !isOwnerAlive(textOfBlob(row.owner)))
        .flatMap((row) =>
          db
            .prepare(
              `UPDATE calls SET running = 0 WHERE running = 1 AND owner = CAST(? AS TEXT)
               RETURNING ${ROW}`,
            )
            .all(row.owner ?? ""),
        )
        .map(decodeRow)
        .sort((first, second) => first.seq - second.seq);
    },

    /**
     * Removes old rows, how many. The newest row stays whatever its age, so that no number is ever given out twice. With
     * `onlyCounted`, those stay that the statistics have not seen yet.
     */
    prune(what: {
      readonly writtenBeforeMs: number;
      readonly onlyCounted?: boolean;
      readonly most?: number;
    }): number {
      const counted =
        what.onlyCounted === true
          ? "AND seq <= (SELECT seq FROM stats_cursor) AND seq NOT IN (SELECT seq FROM stats_open)"
          : "";
      return db
        .prepare(
          `DELETE FROM calls WHERE seq IN (
             SELECT seq FROM calls
             WHERE written_at < ? AND running = 0 AND seq < (SELECT max(seq) FROM calls) ${counted}
             ORDER BY written_at LIMIT ?)`,
        )
        .run(what.writtenBeforeMs, what.most ?? -1).changes;
    },
  };
}
