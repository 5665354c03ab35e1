import { type Database, type SqlValue, textOfBlob } from "../store/driver.js";
import { isOwnerAlive } from "../store/process-owner.js";
import type { JournalRow, RecentQuery, ToolStats } from "./journal.js";
import { decodeRow } from "./journal-rows.js";

const ROW = "seq, running, CAST(owner AS BLOB) AS owner, CAST(detail AS BLOB) AS detail";

/** JSON functions refuse a damaged document and with it the whole query; NULL lets the others through. */
const SOUND_DETAIL = "CASE WHEN json_valid(detail) THEN detail END";

const STATUS = `coalesce(${SOUND_DETAIL} ->> '$.outcome.status', iif(running, 'running', 'unknown'))`;

const STATS = `
  WITH picked AS MATERIALIZED (
    SELECT seq, doc ->> '$.tool' AS tool, doc ->> '$.outcome.status' AS status,
      doc ->> '$.outcome.duration_ms' AS ms, doc ->> '$.outcome.result_chars' AS chars,
      coalesce(doc ->> '$.outcome.error_message', doc ->> '$.outcome.error_code') AS message
    FROM (SELECT seq, ${SOUND_DETAIL} AS doc FROM calls WHERE written_at >= ?1)
    WHERE doc ->> '$.started_at' >= ?1
  ),
  ranked AS (
    SELECT tool, ms, row_number() OVER (PARTITION BY tool ORDER BY ms) AS place,
      count(*) OVER (PARTITION BY tool) AS total
    FROM picked WHERE status IN ('ok', 'error', 'timeout')
  ),
  percentiles AS (
    SELECT tool, min(ms) FILTER (WHERE place * 100 >= total * 50) AS p50_ms,
      min(ms) FILTER (WHERE place * 100 >= total * 95) AS p95_ms,
      min(ms) FILTER (WHERE place * 100 >= total * 99) AS p99_ms
    FROM ranked GROUP BY tool
  ),
  last_errors AS (
    SELECT tool, message, max(seq) FROM picked WHERE status IN ('error', 'timeout') GROUP BY tool
  ),
  totals AS (
    SELECT tool, count(*) AS calls, count(*) FILTER (WHERE status IN ('error', 'timeout')) AS errors,
      coalesce(sum(chars), 0) AS result_chars
    FROM picked GROUP BY tool
  )
  SELECT CAST(tool AS BLOB) AS tool, calls, errors, result_chars, p50_ms, p95_ms, p99_ms,
    CAST(message AS BLOB) AS last_error
  FROM totals LEFT JOIN percentiles USING (tool) LEFT JOIN last_errors USING (tool)
  ORDER BY calls DESC, tool`;

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
      is("door", query.door);
      is("environment", query.environment);
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

    call(id: number | string): JournalRow | undefined {
      // A document begins with the id of its call, so none has to be taken apart to find it.
      const beginning = `{"call_id":${JSON.stringify(id)},`;
      const row =
        typeof id === "number"
          ? db.prepare(`SELECT ${ROW} FROM calls WHERE seq = ?`).get(id)
          : db
              .prepare(`SELECT ${ROW} FROM calls WHERE substr(detail, 1, ?) = ? ORDER BY seq DESC LIMIT 1`)
              .get([...beginning].length, beginning);
      return row === undefined ? undefined : decodeRow(row);
    },

    stats(sinceMs: number): readonly ToolStats[] {
      return db
        .prepare(STATS)
        .all(sinceMs)
        .map((row) => {
          const calls = Number(row.calls);
          const errors = Number(row.errors);
          return {
            tool: textOfBlob(row.tool),
            calls,
            errors,
            error_rate: errors / calls,
            p50_ms: typeof row.p50_ms === "number" ? row.p50_ms : undefined,
            p95_ms: typeof row.p95_ms === "number" ? row.p95_ms : undefined,
            p99_ms: typeof row.p99_ms === "number" ? row.p99_ms : undefined,
            last_error: row.last_error === null ? undefined : textOfBlob(row.last_error),
            result_chars: Number(row.result_chars),
          };
        });
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

    /** The newest row stays whatever its age, so that no number is ever given out twice. */
    prune(writtenBeforeMs: number): number {
      return db
        .prepare(
          "DELETE FROM calls WHERE written_at < ? AND running = 0 AND seq < (SELECT max(seq) FROM calls)",
        )
        .run(writtenBeforeMs).changes;
    },
  };
}
