import { GroupSync } from "../agent/sessions/group-sync.js";
import { rollback } from "../store/migrations.js";
import { newOwnerId } from "../store/process-owner.js";
import { openStore, type Store } from "../store/store.js";
import { Chats } from "./chats.js";
import { Health } from "./health.js";
import { Inbox } from "./inbox.js";
import { Outbox } from "./outbox.js";
import { People } from "./people.js";
import { GATEWAY_MIGRATIONS } from "./schema.js";

/** Ids are known, and what was sent is listed, for this long: far longer than any platform tries again. */
const KEPT_MS = 7 * 86_400_000;

export async function openGatewayStore(path: string): Promise<GatewayStore> {
  return new GatewayStore(await openStore({ path, migrations: GATEWAY_MIGRATIONS }));
}

/** What came in, what has to go out, who may talk, and how the gateways are: `gateways.db`. */
export class GatewayStore {
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly chats: Chats;
  readonly people: People;
  readonly health: Health;
  readonly #store: Store;
  readonly #sync: GroupSync;

  constructor(store: Store) {
    this.#store = store;
    this.#sync = new GroupSync(() => store.syncWal());
    store.db.exec("PRAGMA secure_delete = ON");
    this.inbox = new Inbox(store.db);
    const worker = newOwnerId();
    this.outbox = new Outbox(store.db, worker);
    this.chats = new Chats(store.db);
    this.people = new People(store.db);
    this.health = new Health(store.db, worker);
  }

  /** All of it or nothing, committed when it resolves: it then survives `kill -9`. */
  async write<Result>(work: () => Result): Promise<Result> {
    const { db } = this.#store;
    db.exec("BEGIN IMMEDIATE");
    let result: Result;
    try {
      result = work();
      db.exec("COMMIT");
    } catch (error) {
      rollback(db);
      throw error;
    }
    await this.#sync.committed();
    return result;
  }

  /** Forgets what nobody can ask for any more. */
  async prune(now = Date.now()): Promise<void> {
    await this.write(() => {
      this.inbox.prune(now - KEPT_MS);
      this.outbox.prune(now - KEPT_MS);
      this.people.prune(now);
    });
  }

  async close(): Promise<void> {
    await this.write(() => this.outbox.letGo());
    await this.#sync.close();
    await this.#store.close();
  }
}
