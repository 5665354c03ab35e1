import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { replaceFile } from "../../base/atomic-write.js";
import { canonicalJson } from "../../base/canonical-json.js";
import { errnoOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { withFileLock } from "../../config/lock.js";
import { ToolError } from "../../tool/errors.js";

/** Who wrote a skill. Nobody but a person puts one into the folder by hand. */
export type SkillAuthor = "person" | "agent" | "installed";

/** What is known of a skill besides its files. */
export interface SkillRecord {
  readonly author: SkillAuthor;
  /** What a person has accepted; other files than these are used by nobody. */
  readonly sha256?: string | undefined;
  /** The person has seen what is suspicious about it, and took it all the same. */
  readonly despite?: string | undefined;
  readonly acceptedAt?: number | undefined;
  readonly uses: number;
  readonly lastUsedAt?: number | undefined;
}

export type SkillRecords = Readonly<Record<string, SkillRecord>>;

/** The file beside the skills that says who wrote them, what was accepted and how often each was used. */
export class SkillRegister {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, ".register.json");
  }

  async read(): Promise<SkillRecords> {
    let text: string;
    try {
      text = await readFile(this.#path, "utf8");
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return {};
      throw error;
    }
    // Without it, what an agent wrote would count as a person's.
    const read = parsed(text);
    if (read !== undefined) return read;
    throw new ToolError(`${this.#path} is damaged, so nobody knows which skills were accepted.`, {
      code: "failed",
      hint: "Look through the skills folder, then delete this file: what lies there then counts as yours.",
    });
  }

  /** Undefined in place of a record forgets it. */
  async change(
    name: string,
    change: (record: SkillRecord | undefined) => SkillRecord | undefined,
  ): Promise<void> {
    const outcome = await withFileLock(this.#path, async (): Promise<undefined> => {
      const { [name]: record, ...others } = await this.read();
      const next = change(record);
      const records = next === undefined ? others : { ...others, [name]: next };
      const data = `${JSON.stringify({ ...records, [SUM]: sumOf(records) }, null, 2)}\n`;
      await replaceFile({ path: this.#path, data, mode: 0o600 });
      return undefined;
    });
    if (outcome !== undefined)
      throw new ToolError(outcome.message, { code: outcome.code, hint: outcome.hint });
  }
}

/** Beside the skills; no skill can have this name. */
const SUM = "#sum";

function sumOf(records: object): number {
  return crc32(canonicalJson(records));
}

function parsed(text: string): SkillRecords | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { [SUM]: sum, ...written } = value;
  if (sum !== undefined && sum !== sumOf(written)) return undefined;
  const records = Object.entries(written).map(([name, record]) => [name, recordFrom(record)] as const);
  if (records.some(([, record]) => record === undefined)) return undefined;
  return Object.fromEntries(records) as SkillRecords;
}

const AUTHORS: readonly unknown[] = ["person", "agent", "installed"] satisfies readonly SkillAuthor[];

function recordFrom(value: unknown): SkillRecord | undefined {
  if (!isRecord(value) || !AUTHORS.includes(value.author)) return undefined;
  const text = (given: unknown) => (typeof given === "string" ? given : undefined);
  const number = (given: unknown) => (typeof given === "number" ? given : undefined);
  return {
    author: value.author as SkillAuthor,
    sha256: text(value.sha256),
    despite: text(value.despite),
    acceptedAt: number(value.acceptedAt),
    uses: number(value.uses) ?? 0,
    lastUsedAt: number(value.lastUsedAt),
  };
}
