import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { inspectSkill, readSkillFiles, SKILL_FILE } from "../../agent/skills/skill-files.js";
import { isProblem, isSkillName, type Problem } from "../../agent/skills/skill-text.js";
import { Skills } from "../../agent/skills/skills.js";
import { isMissing } from "../../base/errno.js";
import { quoteIfNeeded } from "../../base/quote.js";
import { hermesPaths } from "../../config/paths.js";
import { isFolder, reasonOf } from "./read-source.js";
import { failed, type Homes, kept, migrated, type Step } from "./step.js";

export async function planSkills({ from, home }: Homes): Promise<Step[]> {
  const skills = new Skills({ folder: hermesPaths(home).skills, env: process.env });
  const here = new Set((await skills.all()).map(({ name }) => name));
  const steps: Step[] = [];
  try {
    for (const place of await placesBelow(join(from, "skills"), [], new Set())) {
      const item = { kind: "skill", name: place.join("/") } as const;
      if (here.has(place.at(-1) ?? "")) {
        steps.push(kept({ ...item, reason: IS_HERE }));
        continue;
      }
      const folder = join(from, "skills", ...place);
      const category = place.length > 1 ? place[0] : undefined;
      const read = await readSkill(folder, category);
      if (isProblem(read)) steps.push(failed({ ...item, reason: read.problem }));
      else if (here.has(read.name)) steps.push(kept({ ...item, reason: IS_HERE }));
      else {
        here.add(read.name);
        const to = read.name === place.at(-1) ? undefined : read.name;
        steps.push(migrated({ ...item, to }, () => skills.install(folder, { name: read.name, category })));
      }
    }
  } catch (error) {
    steps.push(failed({ kind: "skill", name: "skills", reason: reasonOf(error) }));
  }
  return steps;
}

const IS_HERE = "there is a skill of that name here, which stays";

/** Its name, which there need not be that of the folder; or why it would not be installed. */
async function readSkill(
  folder: string,
  category: string | undefined,
): Promise<{ readonly name: string } | Problem> {
  if (category !== undefined && !isSkillName(category))
    return { problem: `${category} cannot be a category here` };
  const files = await readSkillFiles(folder);
  if (isProblem(files)) return files;
  const read = await inspectSkill(files);
  if (isProblem(read) || read.threat === undefined) return read;
  const hint = `hermes skills install ${quoteIfNeeded(folder)} --anyway`;
  return { problem: `it is suspicious: ${read.threat}; if it is what you want: ${hint}` };
}

/** The original sorts skills into folders of any depth, and follows links; here the outermost folder is their category. */
async function placesBelow(
  folder: string,
  inside: readonly string[],
  seen: Set<string>,
): Promise<readonly (readonly string[])[]> {
  const path = join(folder, ...inside);
  const real = await realpath(path).catch(() => path);
  if (seen.has(real)) return [];
  seen.add(real);
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  if (inside.length > 0 && entries.some((entry) => entry.name === SKILL_FILE)) return [inside];
  const found: (readonly string[])[] = [];
  for (const { name } of entries.filter((entry) => !entry.name.startsWith(".")))
    if (await isFolder(join(path, name))) found.push(...(await placesBelow(folder, [...inside, name], seen)));
  return found;
}
