import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { inspectSkill, readSkillFiles, SKILL_FILE } from "../../agent/skills/skill-files.js";
import { isProblem, isSkillName } from "../../agent/skills/skill-text.js";
import { Skills } from "../../agent/skills/skills.js";
import { isMissing } from "../../base/errno.js";
import { quoteIfNeeded } from "../../base/quote.js";
import { hermesPaths } from "../../config/paths.js";
import { reasonOf } from "./read-source.js";
import { failed, type Homes, kept, migrated, type Step } from "./step.js";

/** The original sorts skills into folders of any depth; here the outermost one is their category. */
const MAX_DEPTH = 5;

export async function planSkills({ from, home }: Homes): Promise<Step[]> {
  const skills = new Skills({ folder: hermesPaths(home).skills, env: process.env });
  const here = new Set((await skills.all()).map(({ name }) => name));
  const steps: Step[] = [];
  try {
    for (const place of await placesBelow(join(from, "skills"), [])) {
      const name = place.at(-1) ?? "";
      const item = { kind: "skill", name: place.join("/") } as const;
      if (here.has(name)) {
        steps.push(kept({ ...item, reason: "there is a skill of that name here, which stays" }));
        continue;
      }
      const folder = join(from, "skills", ...place);
      const category = place.length > 1 ? place[0] : undefined;
      const problem = await problemOf(folder, { name, category });
      if (problem !== undefined) steps.push(failed({ ...item, reason: problem }));
      else {
        here.add(name);
        steps.push(migrated(item, () => skills.install(folder, { category })));
      }
    }
  } catch (error) {
    steps.push(failed({ kind: "skill", name: "skills", reason: reasonOf(error) }));
  }
  return steps;
}

/** Why it would not be installed. */
async function problemOf(
  folder: string,
  { name, category }: { readonly name: string; readonly category: string | undefined },
): Promise<string | undefined> {
  if (category !== undefined && !isSkillName(category)) return `${category} cannot be a category here`;
  const files = await readSkillFiles(folder);
  if (isProblem(files)) return files.problem;
  const read = await inspectSkill(files, name);
  if (isProblem(read)) return read.problem;
  if (read.threat === undefined) return undefined;
  return `it is suspicious: ${read.threat}; if it is what you want: hermes skills install ${quoteIfNeeded(folder)} --anyway`;
}

async function placesBelow(
  folder: string,
  inside: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const entries = await readdir(join(folder, ...inside), { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  if (inside.length > 0 && entries.some((entry) => entry.name === SKILL_FILE)) return [inside];
  if (inside.length >= MAX_DEPTH) return [];
  const found: (readonly string[])[] = [];
  for (const entry of entries.filter((one) => one.isDirectory() && !one.name.startsWith(".")))
    found.push(...(await placesBelow(folder, [...inside, entry.name])));
  return found;
}
