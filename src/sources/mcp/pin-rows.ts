import { type Database, textOfBlob } from "../../store/driver.js";
import type { Definition } from "./definition.js";
import { parseDefinition } from "./definition.js";

export interface Pin {
  readonly definition: Definition;
  readonly fingerprint: string;
  /** False for a tool the server no longer lists; its pin stays, should it come back changed. */
  readonly present: boolean;
}

/** What is remembered of a server beside its tools. */
export interface ServerMemory {
  readonly era: "legacy" | "modern" | undefined;
  /** What a modern server said about itself, as JSON. */
  readonly discover: string | undefined;
  readonly eraAt: number;
  readonly resources: boolean;
  readonly prompts: boolean;
}

interface ServerKey {
  readonly server: string;
  readonly identity: string;
}

const KEPT_ABSENT_MS = 90 * 24 * 3_600_000;

/** The tables of pinned definitions. */
export class PinRows {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  pinsOf({ server, identity }: ServerKey): ReadonlyMap<string, Pin> {
    const rows = this.#db
      .prepare(
        "SELECT CAST(tool AS BLOB) AS tool, CAST(definition AS BLOB) AS definition, fingerprint, present " +
          "FROM mcp_pins WHERE server = ? AND identity = ? ORDER BY tool",
      )
      .all(server, identity);
    const pins = new Map<string, Pin>();
    for (const row of rows) {
      const definition = parseDefinition(textOfBlob(row.definition));
      if (definition === undefined) continue;
      pins.set(textOfBlob(row.tool), {
        definition,
        fingerprint: String(row.fingerprint),
        present: row.present === 1,
      });
    }
    return pins;
  }

  /** What a server of this name listed last, whatever address or program stood behind the name. */
  present(server: string): readonly Definition[] {
    const rows = this.#db
      .prepare("SELECT CAST(definition AS BLOB) AS definition FROM mcp_pins WHERE server = ? AND present = 1")
      .all(server);
    return rows.flatMap(({ definition }) => parseDefinition(textOfBlob(definition)) ?? []);
  }

  /** Keeps the first definition of each tool that was ever seen; a pin that is there stays. */
  addFirst(key: ServerKey, pins: readonly Pin[]): void {
    const insert = this.#db.prepare(
      "INSERT INTO mcp_pins (server, identity, tool, fingerprint, definition, present, pinned_at) " +
        "VALUES (?, ?, ?, ?, ?, 1, ?) ON CONFLICT DO NOTHING",
    );
    this.#together(() => {
      for (const { definition, fingerprint } of pins)
        insert.run(
          key.server,
          key.identity,
          definition.name,
          fingerprint,
          JSON.stringify(definition),
          Date.now(),
        );
    });
  }

  /** Replaces a pin: somebody has agreed to the change. */
  replace(key: ServerKey, pin: Pin): void {
    this.#db
      .prepare(
        "INSERT INTO mcp_pins (server, identity, tool, fingerprint, definition, present, pinned_at) " +
          "VALUES (?, ?, ?, ?, ?, 1, ?) ON CONFLICT (server, identity, tool) DO UPDATE SET " +
          "fingerprint = excluded.fingerprint, definition = excluded.definition, present = 1, pinned_at = excluded.pinned_at",
      )
      .run(
        key.server,
        key.identity,
        pin.definition.name,
        pin.fingerprint,
        JSON.stringify(pin.definition),
        Date.now(),
      );
  }

  /** Notes which tools the server lists now. */
  setPresent(key: ServerKey, changes: readonly { readonly tool: string; readonly present: boolean }[]): void {
    if (changes.length === 0) return;
    const update = this.#db.prepare(
      "UPDATE mcp_pins SET present = ? WHERE server = ? AND identity = ? AND tool = ?",
    );
    this.#together(() => {
      for (const { tool, present } of changes) update.run(present ? 1 : 0, key.server, key.identity, tool);
      this.#db
        .prepare("DELETE FROM mcp_pins WHERE server = ? AND identity = ? AND present = 0 AND pinned_at < ?")
        .run(key.server, key.identity, Date.now() - KEPT_ABSENT_MS);
    });
  }

  memoryOf({ server, identity }: ServerKey): ServerMemory | undefined {
    const row = this.#db
      .prepare(
        "SELECT era, CAST(discover AS BLOB) AS discover, era_at, resources, prompts FROM mcp_memory " +
          "WHERE server = ? AND identity = ?",
      )
      .get(server, identity);
    if (row === undefined) return undefined;
    return {
      era: row.era === "legacy" || row.era === "modern" ? row.era : undefined,
      discover: row.discover === null ? undefined : textOfBlob(row.discover),
      eraAt: Number(row.era_at),
      resources: row.resources === 1,
      prompts: row.prompts === 1,
    };
  }

  remember(key: ServerKey, memory: ServerMemory): void {
    this.#db
      .prepare(
        "INSERT INTO mcp_memory (server, identity, era, discover, era_at, resources, prompts) VALUES (?, ?, ?, ?, ?, ?, ?) " +
          "ON CONFLICT (server, identity) DO UPDATE SET era = excluded.era, discover = excluded.discover, " +
          "era_at = excluded.era_at, resources = excluded.resources, prompts = excluded.prompts",
      )
      .run(
        key.server,
        key.identity,
        memory.era ?? null,
        memory.discover ?? null,
        memory.eraAt,
        memory.resources ? 1 : 0,
        memory.prompts ? 1 : 0,
      );
  }

  /** Nothing is known of a server any more, whatever it was behind its name. */
  forget(server: string): void {
    this.#together(() => {
      for (const table of ["mcp_pins", "mcp_memory"])
        this.#db.prepare(`DELETE FROM ${table} WHERE server = ?`).run(server);
    });
  }

  #together(work: () => void): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }
}
