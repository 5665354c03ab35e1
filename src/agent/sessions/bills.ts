import type { Database } from "../../store/driver.js";
import type { Bill } from "./types.js";

export function insertBill(db: Database, bill: Bill & { readonly root: number }): void {
  const { usage } = bill;
  db.prepare(
    `INSERT INTO bills (root, session, at, model, purpose, input_tokens, cached_tokens, cache_write_tokens, output_tokens, cost_usd,
       definition_tokens)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    bill.root,
    bill.session,
    bill.at,
    bill.model,
    bill.purpose,
    usage.inputTokens,
    usage.cachedTokens ?? 0,
    usage.cacheWriteTokens ?? 0,
    usage.outputTokens,
    bill.costUsd ?? null,
    bill.definitionTokens ?? 0,
  );
}

/** As another machine tells it: one that is here already is not added again. */
export function insertToldBill(db: Database, bill: Bill & { readonly root: number }): void {
  const { at, session, purpose, usage } = bill;
  const known = db
    .prepare(
      "SELECT 1 FROM bills WHERE at = ? AND session = ? AND purpose = ? AND input_tokens = ? AND output_tokens = ?",
    )
    .get(at, session, purpose, usage.inputTokens, usage.outputTokens);
  if (known === undefined) insertBill(db, bill);
}

/** Of one family of conversations. */
export function billsOf(db: Database, root: number): readonly Bill[] {
  return db
    .prepare("SELECT * FROM bills WHERE root = ? ORDER BY seq")
    .all(root)
    .map((row) => ({
      session: String(row.session),
      at: Number(row.at),
      model: String(row.model),
      purpose: String(row.purpose) as Bill["purpose"],
      usage: {
        inputTokens: Number(row.input_tokens),
        cachedTokens: Number(row.cached_tokens),
        cacheWriteTokens: Number(row.cache_write_tokens),
        outputTokens: Number(row.output_tokens),
      },
      costUsd: row.cost_usd === null ? undefined : Number(row.cost_usd),
      definitionTokens: Number(row.definition_tokens),
    }));
}

/** Of one family of conversations, or of all, since a moment. */
export function sumOfBills(
  db: Database,
  { root, since }: { readonly root: number | undefined; readonly since: number | undefined },
): number {
  const row = db
    .prepare("SELECT total(cost_usd) AS sum FROM bills WHERE (?1 IS NULL OR root = ?1) AND at >= ?2")
    .get(root ?? null, since ?? 0);
  return Number(row?.sum ?? 0);
}

export function raisedLimit(db: Database, key: string): number | undefined {
  const row = db.prepare("SELECT value FROM about WHERE key = ?").get(key);
  return row === undefined ? undefined : Number(row.value);
}

export function raiseLimit(db: Database, key: string, usd: number): void {
  db.prepare("INSERT OR REPLACE INTO about VALUES (?, ?)").run(key, String(usd));
}
