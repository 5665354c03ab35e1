import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { sha256 } from "../../base/hash.js";
import { threatIn } from "../../places/threats.js";
import { isProblem, type Problem, readSkillText, type SkillText } from "./skill-text.js";

export const SKILL_FILE = "SKILL.md";
const MAX_FILES = 200;
const MAX_BYTES = 5_000_000;
const MAX_DEPTH = 6;

/** All files of a skill by their names below its folder, which are sorted. */
export type SkillFiles = ReadonlyMap<string, Buffer>;

/** Reads a folder. What leads out of it, or is no plain file, is not read: the whole skill is refused then. */
export async function readSkillFiles(folder: string): Promise<SkillFiles | Problem> {
  const files = new Map<string, Buffer>();
  let bytes = 0;
  const read = async (below: string, depth: number): Promise<Problem | undefined> => {
    if (depth > MAX_DEPTH) return { problem: `${below} lies too deep` };
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort(byName)) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        const problem = await read(name, depth + 1);
        if (problem !== undefined) return problem;
        continue;
      }
      if (!entry.isFile()) return { problem: `${name} is a link or no plain file` };
      const content = await readFile(join(folder, name));
      bytes += content.length;
      files.set(name, content);
      if (files.size > MAX_FILES) return { problem: `it has more than ${MAX_FILES} files` };
      if (bytes > MAX_BYTES) return { problem: `it has more than ${MAX_BYTES} bytes` };
    }
    return undefined;
  };
  try {
    return (await read("", 0)) ?? sorted(files);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) throw error;
    return { problem: "there is no such folder" };
  }
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

export function sorted(files: SkillFiles): SkillFiles {
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Puts a skill where it belongs in one step: whoever reads sees the old one or the new one. */
export async function writeSkillFiles(folder: string, files: SkillFiles): Promise<void> {
  const aside = (what: string) =>
    join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString("hex")}.${what}`);
  const fresh = aside("new");
  const old = aside("old");
  try {
    for (const [name, content] of files) {
      await mkdir(dirname(join(fresh, name)), { recursive: true, mode: 0o700 });
      // Told to run scripts/x.sh, a model does that: only "bash scripts/x.sh" would work otherwise.
      const mode = content.toString("latin1", 0, 2) === "#!" ? 0o700 : 0o600;
      await writeFile(join(fresh, name), content, { mode, flush: true });
    }
    await rename(folder, old).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
    });
    await rename(fresh, folder);
  } finally {
    for (const left of [fresh, old]) await rm(left, { recursive: true, force: true });
  }
}

/** What is to be known of a skill before anybody reads it. */
export interface Inspected extends SkillText {
  /** Of all its files. */
  readonly hash: string;
  /** What is suspicious about it and where, in words. */
  readonly threat?: string | undefined;
}

/** Every field and every file is looked at: a model reads them all, and runs some. */
export async function inspectSkill(files: SkillFiles, name?: string): Promise<Inspected | Problem> {
  const main = files.get(SKILL_FILE);
  if (main === undefined) return { problem: `there is no ${SKILL_FILE}` };
  const text = textIn(main);
  if (text === undefined) return { problem: `${SKILL_FILE} is no UTF-8 text` };
  const read = await readSkillText(text, name);
  if (isProblem(read)) return read;
  return { ...read, hash: hashOf(files), threat: threatInFields(read) ?? threatInFiles(files) };
}

function threatInFields({ fields }: SkillText): string | undefined {
  for (const field of fields) {
    const threat = threatIn(field);
    if (threat !== undefined) return `its front matter holds ${threat}`;
  }
  return undefined;
}

function threatInFiles(files: SkillFiles): string | undefined {
  for (const [name, content] of files) {
    const threat = threatIn(name) ?? threatIn(textIn(content) ?? "");
    if (threat !== undefined) return `${name} holds ${threat}`;
  }
  return undefined;
}

/** Undefined for what is no text: pictures, archives. */
export function textIn(content: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function hashOf(files: SkillFiles): string {
  return sha256(JSON.stringify([...files].map(([name, content]) => [name, sha256(content)])));
}
