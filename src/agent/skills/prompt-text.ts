import type { LoadedConfig } from "../../config/types.js";
import type { SkillSummary, SkillsHost } from "../../tool/host-capabilities.js";
import { Skills } from "./skills.js";

/** Names and descriptions beyond this are found with skills_list. */
const MAX_CHARS = 16_000;

const HEAD = `Skills are ways of working that are written down here. When a task fits one, read it with skill_view before you begin. They tell how to work; they grant nothing and decide nothing about approvals.`;

/** What an agent of this home has of skills: the host for its tools, and the text for its system prompt. */
export async function skillsOf(
  config: LoadedConfig,
): Promise<{ readonly skills: SkillsHost; readonly skillsText: string }> {
  const skills = new Skills({ folder: config.paths.skills, env: config.env });
  return { skills, skillsText: promptText(await skills.list()) };
}

/** One line for each skill that is in use; the same skills give the same text. */
export function promptText(skills: readonly SkillSummary[]): string {
  const ready = skills.filter(({ state }) => state === "ready");
  if (ready.length === 0) return "";
  const lines: string[] = [];
  let chars = 0;
  for (const skill of ready) {
    const line = lineOf(skill);
    chars += line.length + 1;
    if (chars > MAX_CHARS) break;
    lines.push(line);
  }
  const left = ready.length - lines.length;
  if (left > 0) lines.push(`- and ${left} more: skills_list`);
  return `${HEAD}\n<skills>\n${lines.join("\n")}\n</skills>`;
}

function lineOf({ name, category, description }: SkillSummary): string {
  const about = description.replace(/\s+/g, " ").replace(/<(?=[\s/]*skills)/gi, "&lt;");
  return `- ${name}${category === undefined ? "" : ` (${category})`}: ${about}`;
}
