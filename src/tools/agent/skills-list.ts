import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";

interface SkillsAnswer {
  readonly success: true;
  readonly skills: readonly {
    readonly name: string;
    readonly category?: string | undefined;
    /** Left out for a draft: nobody has read it yet. */
    readonly description?: string | undefined;
    readonly state?: "draft" | undefined;
  }[];
  readonly categories: readonly string[];
  readonly count: number;
}

export default defineTool({
  name: "skills_list",
  toolset: "skills",
  emoji: "📚",
  description:
    "Names and descriptions of skills: ways of working that are written down. Read one with skill_view.",
  parameters: {
    type: "object",
    properties: { category: { type: "string", description: "Only this one." } },
    additionalProperties: false,
  },
  permissions: [],
  effects: () => [],
  host: "skills",
  idempotent: true,
  examples: [
    {
      title: "See which skills there are",
      arguments: {},
      result: {
        success: true,
        count: 1,
        categories: ["office"],
        skills: [{ name: "meeting-notes", category: "office" }],
      },
    },
  ],

  async handler({ category }, ctx): Promise<SkillsAnswer> {
    if (ctx.host.skills === undefined)
      throw new ToolError("skills_list needs an agent loop that has skills.", { code: "unavailable" });
    const all = await ctx.host.skills.list();
    const skills = all
      .filter((skill) => category === undefined || skill.category === category)
      .map(({ state, description, ...skill }) =>
        state === "draft" ? { ...skill, state } : { ...skill, description },
      );
    const categories = [...new Set(all.flatMap((skill) => skill.category ?? []))].sort();
    return { success: true, skills, categories, count: skills.length };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human:
      out.count === 0
        ? mark.dim("There are no skills here.")
        : columns(
            out.skills.map(({ name, category = "", description = "", state }) => [
              mark.strong(name),
              mark.dim(category),
              state === undefined ? description : `${mark.warning(state)} ${description}`,
            ]),
          ),
  }),
});
