import { isOwnerAlive } from "../store/process-owner.js";
import type { Store } from "../store/store.js";

/** A scheduler that was not seen for so long is gone, wherever it ran. */
const FORGOTTEN_AFTER_MS = 2 * 60 * 60 * 1000;

/** Which schedulers look after the jobs of one Hermes home. */
export class SchedulerRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  seen(owner: string, at: number): void {
    this.#store.db
      .prepare(
        "INSERT INTO cron_schedulers (owner, seen_at) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at",
      )
      .run(owner, at);
    this.#store.db.prepare("DELETE FROM cron_schedulers WHERE seen_at < ?").run(at - FORGOTTEN_AFTER_MS);
  }

  gone(owner: string): void {
    this.#store.db.prepare("DELETE FROM cron_schedulers WHERE owner = ?").run(owner);
  }

  anyAlive(now: number): boolean {
    return this.#store.db
      .prepare("SELECT owner FROM cron_schedulers WHERE seen_at >= ?")
      .all(now - FORGOTTEN_AFTER_MS)
      .some(({ owner }) => isOwnerAlive(String(owner)));
  }
}
