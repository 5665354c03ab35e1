import { existsSync } from "node:fs";
import { type Database, textOfBlob } from "../../store/driver.js";
import { openDatabase } from "../../store/sqlite-driver.js";

/** What a model or a conversation took, by the bills. No token is in two parts, so their sum is the bill. */
export interface BilledSum {
  readonly key: string;
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly cache_write: number;
  readonly output: number;
  readonly cost_usd: number;
  /** Of the input, an estimate: what the definitions of tools took of it. */
  readonly definition_tokens: number;
}

/** Read beside whoever writes them; nothing when there are no conversations yet. */
export function billsBy(
  dimension: "model" | "session",
  { file, since, until }: { readonly file: string; readonly since: number; readonly until: number },
): readonly BilledSum[] {
  if (!existsSync(file)) return [];
  const db = openDatabase(file);
  try {
    db.exec("PRAGMA busy_timeout = 5000; PRAGMA query_only = ON");
    return sums(db, dimension, { since, until });
  } finally {
    db.close();
  }
}

function sums(
  db: Database,
  dimension: "model" | "session",
  { since, until }: { readonly since: number; readonly until: number },
): readonly BilledSum[] {
  const columns = db.prepare("SELECT name FROM pragma_table_info('bills')").all();
  if (columns.length === 0) return [];
  // Conversations that nobody has opened since it came have no such column.
  const definitions = columns.some(({ name }) => name === "definition_tokens") ? "definition_tokens" : "0";
  return db
    .prepare(
      `SELECT CAST(${dimension} AS BLOB) AS key, count(*) AS requests,
         total(max(0, input_tokens - cached_tokens - cache_write_tokens)) AS input,
         total(min(cached_tokens, input_tokens)) AS cached,
         total(min(cache_write_tokens, input_tokens - min(cached_tokens, input_tokens))) AS cache_write,
         total(output_tokens) AS output, total(cost_usd) AS cost,
         total(${definitions}) AS definitions
       FROM bills WHERE at >= ? AND at < ? GROUP BY ${dimension} ORDER BY cost DESC, requests DESC`,
    )
    .all(since, until)
    .map((row) => ({
      key: textOfBlob(row.key),
      requests: Number(row.requests),
      input: Number(row.input),
      cached: Number(row.cached),
      cache_write: Number(row.cache_write),
      output: Number(row.output),
      cost_usd: Number(row.cost),
      definition_tokens: Number(row.definitions),
    }));
}
