import type { Skill } from "../../agent/skills/find-skills.js";
import type { Skills } from "../../agent/skills/skills.js";
import { hermesPaths } from "../../config/paths.js";
import { ToolError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson } from "../person.js";

/** Gives a command the skills of this home. */
export async function withSkills<Result>(
  { home }: CommandContext,
  work: (skills: Skills) => Promise<Result>,
): Promise<Result> {
  const { Skills } = await import("../../agent/skills/skills.js");
  try {
    return await work(new Skills({ folder: hermesPaths(home).skills, env: process.env }));
  } catch (error) {
    if (!ToolError.isInstance(error)) throw error;
    const hint = error.hint?.replace("skills_list shows those there are.", "See: hermes skills list");
    throw commandError(error.code, error.message.replace(/\.$/, ""), hint);
  }
}

/** An agent has the tool skill_manage, which makes drafts; its terminal must not be a way to accept them. */
export function assertPersonChangesSkills(): void {
  assertPerson("Skills are accepted and removed by a person", "Use the tool skill_manage.");
}

/** A skill as programs see it. */
export function publicSkill(skill: Skill): Readonly<Record<string, unknown>> {
  const { name, category, description, state, reason, author, uses, lastUsedAt, path, hash, files } = skill;
  return {
    name,
    category: category ?? null,
    description,
    state,
    reason: reason ?? null,
    author,
    uses,
    last_used_at: lastUsedAt === undefined ? null : new Date(lastUsedAt).toISOString(),
    path,
    sha256: hash,
    files: [...files.keys()],
  };
}
