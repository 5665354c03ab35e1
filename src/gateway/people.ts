import { randomInt } from "node:crypto";
import type { Database } from "../store/driver.js";
import type { Person } from "./gateway.js";

/** An `owner` may approve and is told why something failed; a `guest` talks and sees answers only. */
export type Role = "owner" | "guest";

/** Without letters that look alike. */
const ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 8;
const VALID_MS = 3_600_000;
/** Strangers could fill the disk, and make a bot talk, by coming in crowds. */
const MAX_OPEN_CODES = 20;

export interface Paired {
  readonly gateway: string;
  readonly person: Person;
  readonly role: Role;
}

/** Who was let in by a pairing code, beside those the settings name. Nobody is by default. */
export class People {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  role(gateway: string, person: string): Role | undefined {
    const row = this.#db
      .prepare("SELECT role FROM people WHERE gateway = ? AND person = ?")
      .get(gateway, person);
    return row?.role === "owner" || row?.role === "guest" ? row.role : undefined;
  }

  /** A code for a stranger; undefined when they have one that counts, or too many wait. */
  issueCode(gateway: string, person: Person, now = Date.now()): string | undefined {
    this.prune(now);
    const open = this.#db.prepare("SELECT person FROM pairing_codes WHERE gateway = ?").all(gateway);
    if (open.length >= MAX_OPEN_CODES || open.some((row) => row.person === person.id)) return undefined;
    const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    this.#db
      .prepare("INSERT INTO pairing_codes VALUES (?, ?, ?, ?, ?)")
      .run(gateway, person.id, person.name, code, now);
    return code;
  }

  /** Lets in who was given the code. A code counts once. */
  pair(code: string, role: Role, now = Date.now()): Paired | undefined {
    this.prune(now);
    const normal = code.toUpperCase().replace(/[\s-]/g, "");
    const row = this.#db.prepare("SELECT * FROM pairing_codes WHERE code = ?").get(normal);
    if (row === undefined) return undefined;
    const gateway = String(row.gateway);
    const person = { id: String(row.person), name: String(row.name) };
    this.#db.prepare("DELETE FROM pairing_codes WHERE code = ?").run(normal);
    this.#db
      .prepare(
        `INSERT INTO people VALUES (?, ?, ?, ?, ?) ON CONFLICT (gateway, person) DO UPDATE SET role = excluded.role`,
      )
      .run(gateway, person.id, role, person.name, now);
    return { gateway, person, role };
  }

  remove(gateway: string, person: string): boolean {
    return (
      this.#db.prepare("DELETE FROM people WHERE gateway = ? AND person = ?").run(gateway, person).changes ===
      1
    );
  }

  list(): readonly Paired[] {
    return this.#db
      .prepare("SELECT * FROM people ORDER BY gateway, added_at")
      .all()
      .map((row) => ({
        gateway: String(row.gateway),
        person: { id: String(row.person), name: String(row.name) },
        role: row.role === "owner" ? "owner" : "guest",
      }));
  }

  prune(now: number): void {
    this.#db.prepare("DELETE FROM pairing_codes WHERE created_at < ?").run(now - VALID_MS);
  }
}
