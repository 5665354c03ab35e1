import type { Database } from "../store/driver.js";
import { isOwnerAlive } from "../store/process-owner.js";

/** `standby`: another machine of the cluster runs it. `waiting`: it failed and will be started again. `refused`: only a person can mend it, by changing settings. */
export type GatewayState = "standby" | "starting" | "running" | "waiting" | "refused" | "stopped";

export interface GatewayHealth {
  readonly gateway: string;
  readonly state: GatewayState;
  readonly since: number;
  /** The last time the platform answered, with or without news. Sending proves nothing: a deaf one can still send. */
  readonly lastReceivedAt: number | undefined;
  readonly restarts: number;
  readonly error: string | undefined;
}

/** How the gateways are, for commands of other processes. */
export class Health {
  readonly #db: Database;
  readonly #worker: string;

  constructor(db: Database, worker: string) {
    this.#db = db;
    this.#worker = worker;
  }

  /** One process runs a gateway: two would each get half of the messages. False when another one does. */
  claim(gateway: string): boolean {
    const row = this.#db.prepare("SELECT worker FROM health WHERE gateway = ?").get(gateway);
    if (typeof row?.worker === "string" && row.worker !== this.#worker && isOwnerAlive(row.worker))
      return false;
    this.#db
      .prepare(
        `INSERT INTO health VALUES (?1, ?2, 'starting', ?3, NULL, 0, NULL) ON CONFLICT (gateway) DO UPDATE
         SET worker = ?2, state = 'starting', since = ?3, restarts = 0, error = NULL`,
      )
      .run(gateway, this.#worker, Date.now());
    return true;
  }

  note(health: GatewayHealth): void {
    const { gateway, state, since, lastReceivedAt = null, restarts, error = null } = health;
    this.#db
      .prepare(
        `UPDATE health SET state = ?, since = ?, last_received_at = coalesce(?, last_received_at), restarts = ?,
           error = ? WHERE gateway = ? AND worker = ?`,
      )
      .run(state, since, lastReceivedAt, restarts, error, gateway, this.#worker);
  }

  /** A process that lives runs it. */
  isRun(gateway: string): boolean {
    const row = this.#db
      .prepare("SELECT worker FROM health WHERE gateway = ? AND state <> 'standby'")
      .get(gateway);
    return typeof row?.worker === "string" && isOwnerAlive(row.worker);
  }

  release(gateway: string): void {
    this.#db
      .prepare(
        "UPDATE health SET worker = NULL, state = 'stopped', since = ? WHERE gateway = ? AND worker = ?",
      )
      .run(Date.now(), gateway, this.#worker);
  }

  /** One whose process is gone has stopped, whatever it wrote last. */
  list(): readonly GatewayHealth[] {
    return this.#db
      .prepare("SELECT * FROM health ORDER BY gateway")
      .all()
      .map((row) => ({
        gateway: String(row.gateway),
        state:
          typeof row.worker === "string" && isOwnerAlive(row.worker)
            ? (String(row.state) as GatewayState)
            : "stopped",
        since: Number(row.since),
        lastReceivedAt: row.last_received_at === null ? undefined : Number(row.last_received_at),
        restarts: Number(row.restarts),
        error: row.error === null ? undefined : String(row.error),
      }));
  }
}
