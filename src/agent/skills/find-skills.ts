import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import type { SkillAuthor, SkillRecord, SkillRecords } from "./register.js";
import { inspectSkill, readSkillFiles, SKILL_FILE, type SkillFiles } from "./skill-files.js";
import { isProblem } from "./skill-text.js";

/**
 * `ready`: in use. `draft`: an agent wrote it, and no person has accepted it. `changed`: its files are not those that
 * were accepted. `blocked`: something about it is suspicious. `invalid`: it is not written as skills are.
 */
export type SkillState = "ready" | "draft" | "changed" | "blocked" | "invalid";

export interface Skill {
  readonly name: string;
  readonly category: string | undefined;
  readonly description: string;
  readonly state: SkillState;
  /** Why it is not used. */
  readonly reason?: string | undefined;
  readonly author: SkillAuthor;
  readonly uses: number;
  readonly lastUsedAt?: number | undefined;
  readonly path: string;
  readonly hash: string;
  readonly files: SkillFiles;
  /** What is suspicious about it, whether a person took it all the same or not. */
  readonly threat?: string | undefined;
  readonly requiredVariables: readonly string[];
}

const MAX_SKILLS = 1_000;
export const DRAFTS = ".drafts";

/** All skills of a folder, those that cannot be used with the reason; of two with one name the second is no skill. */
export async function findSkills(folder: string, records: SkillRecords): Promise<readonly Skill[]> {
  const taken = new Set<string>();
  const found: Skill[] = [];
  for (const place of await placesBelow(folder)) {
    const skill = judged(await readSkill(place), records[place.name]);
    found.push(
      taken.has(skill.name)
        ? { ...skill, state: "invalid", reason: "another skill has the same name" }
        : skill,
    );
    taken.add(skill.name);
  }
  return found;
}

/** What agents have written and nobody has accepted. */
export async function findDrafts(folder: string): Promise<readonly Skill[]> {
  const drafts: Skill[] = [];
  for (const place of await placesBelow(join(folder, DRAFTS))) {
    const skill = await readSkill(place);
    const state = skill.state === "invalid" ? "invalid" : "draft";
    drafts.push({ ...skill, state, author: "agent" });
  }
  return drafts;
}

interface Place {
  readonly name: string;
  readonly category: string | undefined;
  readonly path: string;
}

/** `NAME/SKILL.md` and `CATEGORY/NAME/SKILL.md`. A person may link folders of skills into it. */
async function placesBelow(folder: string): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (const name of await foldersIn(folder)) {
    const path = join(folder, name);
    if (await isThere(join(path, SKILL_FILE))) places.push({ name, category: undefined, path });
    else
      for (const inner of await foldersIn(path))
        if (await isThere(join(path, inner, SKILL_FILE)))
          places.push({ name: inner, category: name, path: join(path, inner) });
    if (places.length >= MAX_SKILLS) break;
  }
  return places.slice(0, MAX_SKILLS);
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.name.startsWith(".") && (entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? "")) return [];
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

async function readSkill({ name, category, path }: Place): Promise<Skill> {
  const nothing = { description: "", hash: "", requiredVariables: [] };
  const about = { name, category, path, author: "person", uses: 0 } as const;
  const files = await readSkillFiles(path);
  if (isProblem(files))
    return { ...about, ...nothing, state: "invalid", reason: files.problem, files: new Map() };
  const read = await inspectSkill(files, name);
  if (isProblem(read)) return { ...about, ...nothing, state: "invalid", reason: read.problem, files };
  const { description, hash, threat, requiredVariables } = read;
  return { ...about, state: "ready", description, hash, threat, requiredVariables, files };
}

function judged(skill: Skill, record: SkillRecord | undefined): Skill {
  const { author = "person", uses = 0, lastUsedAt, sha256, despite } = record ?? {};
  const known = { ...skill, author, uses, lastUsedAt };
  if (skill.state === "invalid") return known;
  if (sha256 !== undefined && sha256 !== skill.hash)
    return { ...known, state: "changed", reason: "its files are not those that a person accepted" };
  if (skill.threat === undefined || (sha256 !== undefined && despite === skill.threat)) return known;
  return { ...known, state: "blocked", reason: skill.threat };
}
