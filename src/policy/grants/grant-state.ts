import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { replaceFile } from "../../base/atomic-write.js";
import { canonicalJson } from "../../base/canonical-json.js";
import { errnoOf, messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { withFileLock } from "../../config/lock.js";

export interface GrantUse {
  readonly count: number;
  /** When it was last used, ISO 8601. */
  readonly last: string;
}

interface Saved {
  readonly uses: Readonly<Record<string, GrantUse>>;
  /** When a grant was withdrawn, for processes that had read it before. */
  readonly revoked: Readonly<Record<string, string>>;
}

const EMPTY: Saved = { uses: {}, revoked: {} };
const UNREADABLE = "the file cannot be read, so no grant counts; delete it to count uses from zero";
const FORGET_REVOKED_MS = 30 * 86_400_000;

/** How often grants were used and which were withdrawn, in `grants.json` of the home; shared by all processes. */
export class GrantState {
  readonly #file: string;
  readonly #now: () => number;
  readonly #onTrouble: (message: string) => void;
  #cached: { readonly stamp: string; readonly saved: Saved | undefined } | undefined;
  #pending = new Map<string, number>();
  #writing: Promise<void> | undefined;
  /** While this process replaces the file, what is in it is partly counted as pending, too. */
  #replacing = false;

  constructor(options: { home: string; now(): number; onTrouble(message: string): void }) {
    this.#file = join(options.home, "grants.json");
    this.#now = options.now;
    this.#onTrouble = options.onTrouble;
  }

  /** Undefined when the count cannot be known; then a limit must count as reached. */
  usesOf(id: string): number | undefined {
    const saved = this.#read();
    return saved && (saved.uses[id]?.count ?? 0) + (this.#pending.get(id) ?? 0);
  }

  lastUseOf(id: string): string | undefined {
    return this.#read()?.uses[id]?.last;
  }

  /** True as well when nobody can tell. */
  revokedSince(id: string, moment: number): boolean {
    const saved = this.#read();
    if (saved === undefined) return true;
    const at = saved.revoked[id];
    return at !== undefined && !(Date.parse(at) < moment);
  }

  /** Counts at once here; the file follows without anybody waiting for it. */
  count(ids: readonly string[]): void {
    for (const id of ids) this.#pending.set(id, (this.#pending.get(id) ?? 0) + 1);
    this.#writing ??= this.#writeAll();
  }

  /** On disk when it resolves. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async revoke(id: string): Promise<void> {
    await this.#change((saved) => {
      const oldest = this.#now() - FORGET_REVOKED_MS;
      const recent = Object.entries(saved.revoked).filter(([, at]) => Date.parse(at) > oldest);
      const { [id]: _used, ...uses } = saved.uses;
      return { uses, revoked: { ...Object.fromEntries(recent), [id]: new Date(this.#now()).toISOString() } };
    });
  }

  async #writeAll(): Promise<void> {
    // Calls that are decided in the same moment share one write.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (this.#pending.size > 0) await this.#writePending();
    } catch (error) {
      this.#onTrouble(`uses of grants could not be saved in ${this.#file}: ${messageOf(error)}`);
    } finally {
      this.#writing = undefined;
    }
  }

  async #writePending(): Promise<void> {
    const counted = new Map(this.#pending);
    await this.#change((saved) => {
      const last = new Date(this.#now()).toISOString();
      const added = [...counted].map(([id, count]): [string, GrantUse] => [
        id,
        { count: (saved.uses[id]?.count ?? 0) + count, last },
      ]);
      return { ...saved, uses: { ...saved.uses, ...Object.fromEntries(added) } };
    }, counted);
  }

  /** `counted` is what the change has taken over from the uses that were not saved yet. */
  async #change(edit: (saved: Saved) => Saved, counted?: ReadonlyMap<string, number>): Promise<void> {
    const outcome = await withFileLock(this.#file, async () => {
      const saved = this.#read();
      if (saved === undefined) throw new Error(UNREADABLE);
      const next = edit(saved);
      this.#replacing = true;
      try {
        const data = `${JSON.stringify({ ...next, sum: sumOf(next) }, undefined, 1)}\n`;
        await replaceFile({ path: this.#file, data, mode: 0o600 });
      } finally {
        this.#replacing = false;
      }
      this.#cached = { stamp: this.#stamp(), saved: next };
      for (const [id, count] of counted ?? []) {
        const left = (this.#pending.get(id) ?? 0) - count;
        if (left > 0) this.#pending.set(id, left);
        else this.#pending.delete(id);
      }
    });
    if (outcome !== undefined) throw new Error(outcome.message);
  }

  #read(): Saved | undefined {
    if (this.#replacing && this.#cached !== undefined) return this.#cached.saved;
    const stamp = this.#stamp();
    if (this.#cached?.stamp !== stamp) {
      this.#cached = { stamp, saved: readSaved(this.#file) };
      if (this.#cached.saved === undefined) this.#onTrouble(`${this.#file}: ${UNREADABLE}`);
    }
    return this.#cached.saved;
  }

  #stamp(): string {
    const stats = statSync(this.#file, { throwIfNoEntry: false, bigint: true });
    return stats === undefined ? "" : `${stats.mtimeNs} ${stats.size} ${stats.ino}`;
  }
}

/** A count that was changed on the disk must not lift a limit. */
function sumOf({ uses, revoked }: Saved): number {
  return crc32(canonicalJson([uses, revoked]));
}

function readSaved(file: string): Saved | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isRecord(read) || !isRecord(read.uses) || !isRecord(read.revoked)) return undefined;
    if (read.sum !== undefined && read.sum !== sumOf(read as unknown as Saved)) return undefined;
    const counts = Object.values(read.uses).every((use) => isRecord(use) && Number.isSafeInteger(use.count));
    return counts ? (read as unknown as Saved) : undefined;
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? EMPTY : undefined;
  }
}
