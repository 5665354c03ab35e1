import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type { ChangedSkill, SkillChange } from "../../tool/host-capabilities.js";
import { DRAFTS, type Skill } from "./find-skills.js";
import { similarSkill } from "./similar.js";
import {
  type Inspected,
  inspectSkill,
  SKILL_FILE,
  type SkillFiles,
  sorted,
  textIn,
  writeSkillFiles,
} from "./skill-files.js";
import { isProblem, isSkillName } from "./skill-text.js";

/** Folders a file of a skill may lie in, as the format has them; `templates` is Hermes' own. */
const FOLDERS = ["scripts", "references", "assets", "templates"];

export interface Known {
  readonly folder: string;
  readonly skills: readonly Skill[];
  readonly drafts: readonly Skill[];
}

/** Makes or changes a draft. What is in use stays as it is until a person accepts the draft in its place. */
export async function changeDraft(change: SkillChange, known: Known): Promise<ChangedSkill> {
  if (change.action === "create") return created(change, known);
  const draft = known.drafts.find(({ name }) => name === change.name);
  if (change.action === "delete") return deleted(change.name, { draft, skills: known.skills });
  const base = draft ?? changeable(change.name, known);
  const files = new Map(base.files);
  applyTo(files, change);
  return kept({ name: base.name, category: base.category, files: sorted(files) }, known);
}

async function created(
  { name, category, content }: Extract<SkillChange, { action: "create" }>,
  known: Known,
): Promise<ChangedSkill> {
  for (const word of [name, ...(category === undefined ? [] : [category])])
    if (!isSkillName(word))
      throw invalid(`${JSON.stringify(word)} cannot be a name.`, "Take 1 to 64 of a-z, 0-9, - and _.");
  const others = [...known.skills, ...known.drafts];
  const same = others.find((skill) => skill.name === name);
  if (same !== undefined)
    throw invalid(
      `There is a ${same.state === "draft" ? "draft" : "skill"} ${name} already.`,
      "Read it with skill_view; change it with patch or edit, or take another name.",
    );
  const files = new Map([[SKILL_FILE, Buffer.from(content)]]);
  const read = await checked(files, name);
  const similar = similarSkill(read, others);
  if (similar !== undefined)
    throw invalid(
      `The ${similar.state === "draft" ? "draft" : "skill"} ${similar.name} is about the same: ${similar.description}`,
      "Read it with skill_view and use it, or add to it; make a new one only for what none covers.",
    );
  return kept({ name, category, files }, known);
}

/** A person's words, also in what an agent wrote before, and what a person chose are not an agent's to change. */
function changeable(name: string, { skills }: Known): Skill {
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined)
    throw new ToolError(`There is no skill ${JSON.stringify(name)}.`, {
      code: "not_found",
      hint: "skills_list shows those there are.",
    });
  if (skill.author === "agent" && skill.state !== "changed") return skill;
  throw new ToolError(
    skill.author !== "installed"
      ? `A person has written in the skill ${name}: its text is not rewritten.`
      : `The skill ${name} was installed as it is: its text is not rewritten.`,
    {
      code: "denied",
      hint: "Tell the person what you would change, or create a skill of your own.",
    },
  );
}

type FileChange = Exclude<SkillChange, { action: "create" | "delete" }>;

function applyTo(files: Map<string, Buffer>, change: FileChange): void {
  switch (change.action) {
    case "edit":
      files.set(SKILL_FILE, Buffer.from(change.content));
      return;
    case "write_file":
      files.set(fileName(change.file), Buffer.from(change.content));
      return;
    case "remove_file":
      if (!files.delete(fileName(change.file))) throw noFile(change.file, files);
      return;
    case "patch": {
      const name =
        change.file === undefined || change.file === SKILL_FILE ? SKILL_FILE : fileName(change.file);
      const text = textIn(files.get(name) ?? Buffer.from("\0"));
      if (text === undefined) throw noFile(name, files);
      files.set(name, Buffer.from(patched(text, change)));
    }
  }
}

function patched(
  text: string,
  { oldText, newText, everywhere }: Extract<SkillChange, { action: "patch" }>,
): string {
  const pieces = oldText === "" ? [text] : text.split(oldText);
  if (pieces.length === 1)
    throw invalid(
      "old_string was not found; nothing was changed.",
      "Copy it from skill_view, letter by letter.",
    );
  if (pieces.length > 2 && everywhere !== true)
    throw invalid(
      `old_string is there ${pieces.length - 1} times; nothing was changed.`,
      "Give more of the text around it, or replace_all.",
    );
  return pieces.join(newText);
}

/** Never out of the folder of the skill, and never its SKILL.md, which has rules of its own. */
function fileName(given: string): string {
  const parts = given.split("/");
  const isPlain = parts.every((part) => /^[\w][\w .-]*$/.test(part) && part !== "..");
  if (isPlain && parts.length > 1 && FOLDERS.includes(parts[0] ?? "")) return given;
  throw invalid(
    `${JSON.stringify(given)} cannot be a file of a skill.`,
    `Name one below ${FOLDERS.map((folder) => `${folder}/`).join(", ")}; SKILL.md is changed with edit or patch.`,
  );
}

function noFile(name: string, files: SkillFiles): ToolError {
  return new ToolError(`The skill has no text file ${name}.`, {
    code: "not_found",
    hint: `It has: ${[...files.keys()].join(", ")}.`,
  });
}

async function deleted(
  name: string,
  { draft, skills }: { readonly draft: Skill | undefined; readonly skills: readonly Skill[] },
): Promise<ChangedSkill> {
  if (draft !== undefined) {
    await rm(draft.path, { recursive: true, force: true });
    return { name, category: draft.category, state: "deleted", path: draft.path, replaces: false };
  }
  const isThere = skills.some((skill) => skill.name === name);
  throw new ToolError(
    isThere ? `The skill ${name} is in use: a person removes it.` : `There is no draft ${name}.`,
    { code: isThere ? "denied" : "not_found", hint: `hermes skills ${isThere ? `remove ${name}` : "list"}` },
  );
}

async function kept(
  draft: { readonly name: string; readonly category: string | undefined; readonly files: SkillFiles },
  { folder, skills }: Known,
): Promise<ChangedSkill> {
  const { name, category, files } = draft;
  await checked(files, name);
  const path = join(folder, DRAFTS, category ?? "", name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeSkillFiles(path, files);
  return { name, category, state: "draft", path, replaces: skills.some((skill) => skill.name === name) };
}

/** What an agent writes is not kept unless a person could accept it as it is. */
async function checked(files: SkillFiles, name: string): Promise<Inspected> {
  const read = await inspectSkill(files, name);
  if (isProblem(read))
    throw invalid(
      `It is not written as skills are: ${read.problem}.`,
      "Begin content with ---, name: NAME, description: what it is for and when to use it, ---, then the instructions.",
    );
  if (read.threat === undefined) return read;
  throw new ToolError(`The skill is not kept: ${read.threat}.`, {
    code: "blocked",
    hint: "Skills are read in later conversations. Write down how the work is done, in plain visible words.",
  });
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError(message, { code: "invalid_arguments", hint });
}
