import { GroupSync } from "../agent/sessions/group-sync.js";
import { messageOf } from "../base/errno.js";
import { rollback } from "../store/migrations.js";
import { newOwnerId } from "../store/process-owner.js";
import type { Holder, SharedLog } from "../store/shared-log.js";
import { openStore, type Store } from "../store/store.js";
import { Chats } from "./chats.js";
import { Health } from "./health.js";
import { Inbox } from "./inbox.js";
import { Outbox } from "./outbox.js";
import { People } from "./people.js";
import { GATEWAY_MIGRATIONS } from "./schema.js";
import { noteChanges, SharedGateway, takeChanges } from "./shared-gateway.js";

/** Ids are known, and what was sent is listed, for this long: far longer than any platform tries again. */
const KEPT_MS = 7 * 86_400_000;

/** `log`: other machines that may have to go on with the gateways. */
export async function openGatewayStore(path: string, log?: SharedLog): Promise<GatewayStore> {
  return new GatewayStore(await openStore({ path, migrations: GATEWAY_MIGRATIONS }), log);
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
  readonly #log: SharedLog | undefined;
  /** Those that this machine runs for its cluster. */
  readonly #held = new Map<string, SharedGateway>();
  /** Told when another machine runs a gateway now, or when nobody can be told any more what happens in it. */
  onLost: ((gateway: string, why: string) => void) | undefined;

  constructor(store: Store, log?: SharedLog) {
    this.#store = store;
    this.#log = log;
    if (log !== undefined) noteChanges(store.db);
    this.#sync = new GroupSync(() => store.syncWal());
    store.db.exec("PRAGMA secure_delete = ON");
    this.inbox = new Inbox(store.db);
    const worker = newOwnerId();
    this.outbox = new Outbox(store.db, worker);
    this.chats = new Chats(store.db);
    this.people = new People(store.db);
    this.health = new Health(store.db, worker);
  }

  /** What a person should be told about this opening. */
  get notices(): readonly string[] {
    return this.#store.notices;
  }

  /** All of it or nothing, committed when it resolves: it then survives `kill -9`, in a cluster the machine's death. */
  async write<Result>(work: () => Result): Promise<Result> {
    const result = this.#commit(work);
    await Promise.all([this.#tell(), this.#sync.committed()]);
    return result;
  }

  /** From now on this machine runs the gateway, with all that others have left; with whoever runs it already. */
  async hold(gateway: string): Promise<Holder | undefined> {
    if (this.#log === undefined) return undefined;
    const copy = this.#copy(gateway);
    const holder = await this.#log.hold(copy);
    if (holder !== undefined) return holder;
    copy.isAhead = false;
    this.#held.set(gateway, copy);
    return undefined;
  }

  /** Another machine may run it. */
  async release(gateway: string): Promise<void> {
    const copy = this.#held.get(gateway);
    this.#held.delete(gateway);
    if (copy !== undefined) await this.#log?.release(copy);
  }

  /** To whoever runs the gateway. */
  async forward(gateway: string, body: unknown): Promise<unknown> {
    return this.#log?.tell(this.#copy(gateway), body);
  }

  /** What other machines forward. */
  onForwarded(take: (gateway: string, body: unknown) => Promise<unknown>): void {
    this.#log?.hear("gateway", take);
  }

  #copy(name: string): SharedGateway {
    return new SharedGateway({
      db: this.#store.db,
      name,
      write: (work) => {
        this.#commit(work);
        takeChanges(this.#store.db);
      },
    });
  }

  #commit<Result>(work: () => Result): Result {
    const { db } = this.#store;
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

  /** In the order of the commits: each is asked for before the next one can be made. */
  async #tell(): Promise<void> {
    const log = this.#log;
    if (log === undefined) return;
    const all = [...takeChanges(this.#store.db)].flatMap(([gateway, rows]) => {
      const copy = this.#held.get(gateway);
      if (copy === undefined) return [];
      const told = [...rows, ...copy.newPeople()];
      const telling = log.record(copy, {
        changes: () => [{ kind: "rows" as const, rows: told }],
        commit: (to) => copy.apply({ from: copy.state().seq, to, changes: [] }),
      });
      return [telling.catch((error: unknown) => this.#lose(gateway, error))];
    });
    await Promise.all(all);
  }

  /** What was not told must not be built upon: it is begun anew from what was. */
  #lose(gateway: string, error: unknown): never {
    const copy = this.#held.get(gateway);
    this.#held.delete(gateway);
    if (copy !== undefined) {
      void this.#log?.release(copy);
      this.onLost?.(gateway, messageOf(error));
    }
    throw error;
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
    await Promise.all([...this.#held.keys()].map((gateway) => this.release(gateway)));
    await this.#sync.close();
    await this.#store.close();
  }
}
