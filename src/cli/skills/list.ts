import type { Skill } from "../../agent/skills/find-skills.js";
import { SKILL_FILE, textIn } from "../../agent/skills/skill-files.js";
import { visible, visibleLines } from "../../base/visible-text.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { brief } from "../output.js";
import { publicSkill, withSkills } from "./open.js";

export async function list(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const { category } = options;
  const all = await withSkills(context, (skills) => skills.all());
  out.list({
    rows: all.filter((skill) => typeof category !== "string" || skill.category === category),
    asJson: publicSkill,
    head: ["name", "category", "state", "by", "used", "what it is for"],
    cells: (skill) => [
      visible(skill.name),
      visible(skill.category ?? "-"),
      skill.state === "ready" ? skill.state : out.color.yellow(skill.state),
      skill.author,
      String(skill.uses),
      brief(visible(skill.reason ?? skill.description), 80),
    ],
    empty:
      "There are no skills yet. One is a folder with a SKILL.md in the skills folder of the Hermes home.",
  });
}

export async function show(context: CommandContext): Promise<void> {
  const { out } = context;
  const [name = ""] = context.args;
  const found = (await withSkills(context, (skills) => skills.all())).filter((skill) => skill.name === name);
  if (found.length === 0)
    throw commandError("not_found", `There is no skill ${JSON.stringify(name)}`, "See: hermes skills list");
  if (out.json) out.values(found.map((skill) => ({ ...publicSkill(skill), content: contentOf(skill) })));
  else for (const skill of found) print(context, skill);
}

function print({ out }: CommandContext, skill: Skill): void {
  const { state, reason, author, uses, path, files } = skill;
  out.table([
    ["state", reason === undefined ? state : `${out.color.yellow(state)}: ${visible(reason)}`],
    ["by", author],
    ["used", String(uses)],
    ["folder", visible(path)],
    ["files", visible([...files.keys()].join(", "))],
  ]);
  out.line();
  out.line(visibleLines(contentOf(skill)));
}

function contentOf({ files }: Skill): string {
  const main = files.get(SKILL_FILE);
  return main === undefined ? "" : (textIn(main) ?? "");
}
