import { resolve } from "node:path";
import type { Skill } from "../../agent/skills/find-skills.js";
import type { Skills } from "../../agent/skills/skills.js";
import type { CommandContext } from "../context.js";
import { confirm } from "../person.js";
import { assertPersonChangesSkills, publicSkill, withSkills } from "./open.js";

async function change(
  context: CommandContext,
  { work, said }: { work(skills: Skills): Promise<Skill>; said(skill: Skill): string },
): Promise<void> {
  assertPersonChangesSkills();
  const skill = await withSkills(context, work);
  context.out.result(publicSkill(skill), `${context.out.mark("ok")} ${said(skill)}`);
}

export function accept(context: CommandContext): Promise<void> {
  const [name = ""] = context.args;
  const anyway = context.options.anyway === true;
  return change(context, {
    work: (skills) => skills.accept(name, { anyway }),
    said: () => `${name} is used as it is now; when its files change, it waits for your yes again`,
  });
}

export function reject(context: CommandContext): Promise<void> {
  const [name = ""] = context.args;
  return change(context, {
    work: (skills) => skills.reject(name),
    said: () => `the draft ${name} is deleted`,
  });
}

export function install(context: CommandContext): Promise<void> {
  const [folder = ""] = context.args;
  const { category, anyway } = context.options;
  return change(context, {
    work: (skills) =>
      skills.install(resolve(folder), {
        category: typeof category === "string" ? category : undefined,
        anyway: anyway === true,
      }),
    said: ({ name }) => `${name} is installed and used from the next conversation on`,
  });
}

export async function remove(context: CommandContext): Promise<void> {
  const [name = ""] = context.args;
  assertPersonChangesSkills();
  await confirm({
    question: `Delete the skill ${name} with its files?`,
    yes: context.flags.yes === true,
    refused: "It was left as it is",
  });
  await change(context, { work: (skills) => skills.remove(name), said: () => `${name} is deleted` });
}
