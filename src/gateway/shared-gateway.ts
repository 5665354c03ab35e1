import type { Database, SqlRow, SqlValue } from "../store/driver.js";
import type { SharedCopy } from "../store/shared-log.js";

type Table = "inbox" | "outbox" | "chats" | "people" | "pairing_codes";

/** What names a row of a gateway on every machine; numbers are this machine's own. */
const KEYS: Readonly<Record<Table, readonly string[]>> = {
  inbox: ["id"],
  outbox: ["uid"],
  chats: ["chat", "role"],
  people: ["person"],
  pairing_codes: ["person"],
};

const TABLES = Object.keys(KEYS) as readonly Table[];

interface ToldRow {
  readonly table: Table;
  /** In the order of `KEYS`. */
  readonly key: readonly SqlValue[];
  /** Undefined: it is gone. */
  readonly row?: SqlRow | undefined;
}

/** What happens in a gateway, for the machine that runs it next. */
export type GatewayChange =
  | { readonly kind: "whole"; readonly rows: readonly ToldRow[] }
  | { readonly kind: "rows"; readonly rows: readonly ToldRow[] };

/** Notes on this connection which rows change, so that no writer has to say it. */
export function noteChanges(db: Database): void {
  db.exec("CREATE TEMP TABLE changed (tab TEXT, gateway TEXT, key TEXT, UNIQUE (tab, gateway, key))");
  for (const table of TABLES)
    for (const [event, row] of [
      ["INSERT", "NEW"],
      ["UPDATE", "NEW"],
      ["DELETE", "OLD"],
    ]) {
      const key = KEYS[table].map((column) => `${row}.${column}`).join(", ");
      db.exec(
        `CREATE TEMP TRIGGER note_${table}_${event} AFTER ${event} ON main.${table} BEGIN
           INSERT OR IGNORE INTO changed VALUES ('${table}', ${row}.gateway, json_array(${key}));
         END`,
      );
    }
}

/** What has changed since the last time, by gateway. */
export function takeChanges(db: Database): ReadonlyMap<string, readonly ToldRow[]> {
  const changed = db.prepare("SELECT * FROM temp.changed").all();
  if (changed.length > 0) db.exec("DELETE FROM temp.changed");
  const taken = new Map<string, ToldRow[]>();
  for (const { tab, gateway, key } of changed) {
    const named = { table: String(tab) as Table, key: JSON.parse(String(key)) as readonly SqlValue[] };
    const row = rowOf(db, { ...named, gateway: String(gateway) });
    const rows = taken.get(String(gateway)) ?? [];
    rows.push({ ...named, row: row === undefined ? undefined : told(row) });
    taken.set(String(gateway), rows);
  }
  return taken;
}

/** A gateway of this home as the cluster sees it: what came in, what has to go out, which chat is in which conversation. */
export class SharedGateway implements SharedCopy<GatewayChange> {
  readonly kind = "gateway";
  readonly about = {};
  readonly id: string;
  /** Until this machine runs it: what lies here may be what others have done since. */
  isAhead = true;
  #toldPeopleAt = Date.now();
  readonly #db: Database;
  readonly #write: (work: () => void) => void;

  constructor(parts: { readonly db: Database; readonly name: string; write(work: () => void): void }) {
    this.id = parts.name;
    this.#db = parts.db;
    this.#write = parts.write;
  }

  state(): { readonly seq: number; readonly isAhead: boolean } {
    const row = this.#db.prepare("SELECT log_seq FROM shared WHERE gateway = ?").get(this.id);
    return { seq: Number(row?.log_seq ?? 0), isAhead: this.isAhead };
  }

  whole(): GatewayChange {
    const rows = TABLES.flatMap((table) => {
      const order = table === "inbox" || table === "outbox" ? "ORDER BY seq" : "";
      return this.#db
        .prepare(`SELECT * FROM ${table} WHERE gateway = ? ${order}`)
        .all(this.id)
        .map(
          (row): ToldRow => ({
            table,
            key: KEYS[table].map((column) => row[column] ?? null),
            row: told(row),
          }),
        );
    });
    return { kind: "whole", rows };
  }

  /** What only lies here was neither sent nor answered: whoever has gone on did so from what was told. */
  apply({ from, to, changes }: Parameters<SharedCopy<GatewayChange>["apply"]>[0]): void {
    this.#write(() => {
      if (this.state().seq !== from) return;
      for (const { kind, rows } of changes) {
        if (kind === "whole") this.#empty();
        for (const row of rows) this.#put(row);
      }
      this.#db.prepare("INSERT OR REPLACE INTO shared VALUES (?, ?)").run(this.id, to);
    });
  }

  /** Who was let in since the last time, by a command: that is a process of its own. */
  newPeople(): readonly ToldRow[] {
    const since = this.#toldPeopleAt;
    this.#toldPeopleAt = Date.now();
    return this.#db
      .prepare("SELECT * FROM people WHERE gateway = ? AND added_at >= ?")
      .all(this.id, since)
      .map((row) => ({ table: "people", key: [row.person ?? null], row }));
  }

  /** Those who were let in stay so: it is said at one machine, and by another process. */
  #empty(): void {
    for (const table of TABLES)
      if (table !== "people") this.#db.prepare(`DELETE FROM ${table} WHERE gateway = ?`).run(this.id);
  }

  #put({ table, key, row }: ToldRow): void {
    const at = { gateway: this.id, table, key };
    if (row === undefined) {
      this.#db.prepare(`DELETE FROM ${table} WHERE ${where(table)}`).run(this.id, ...key);
      return;
    }
    const columns = Object.keys(row);
    const values = Object.values(row);
    if (rowOf(this.#db, at) === undefined)
      this.#db
        .prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`)
        .run(...values);
    else
      this.#db
        .prepare(
          `UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(", ")} WHERE ${where(table)}`,
        )
        .run(...values, this.id, ...key);
  }
}

/** Numbers and processes are those of one machine. */
function told({ seq: _, ...row }: SqlRow): SqlRow {
  return "sender" in row ? { ...row, sender: null } : row;
}

function where(table: Table): string {
  return ["gateway", ...KEYS[table]].map((column) => `${column} = ?`).join(" AND ");
}

function rowOf(
  db: Database,
  {
    table,
    gateway,
    key,
  }: { readonly table: Table; readonly gateway: string; readonly key: readonly SqlValue[] },
): SqlRow | undefined {
  return db.prepare(`SELECT * FROM ${table} WHERE ${where(table)}`).get(gateway, ...key);
}
