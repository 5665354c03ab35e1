import { rollback } from "../store/migrations.js";
import type { Store } from "../store/store.js";

/** All of it or nothing, and nobody else writes meanwhile. The work must not wait for anything. */
export function transaction<Result>({ db }: Store, work: () => Result): Result {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    rollback(db);
    throw error;
  }
}
