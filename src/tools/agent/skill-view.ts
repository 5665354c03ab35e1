import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";

interface SkillAnswer {
  readonly success: true;
  readonly name: string;
  readonly category?: string | undefined;
  readonly description: string;
  readonly state?: "draft" | undefined;
  /** The file that was asked for, when that is not SKILL.md. */
  readonly file?: string | undefined;
  readonly content: string;
  readonly linked_files: readonly string[];
  readonly path: string;
  readonly missing_environment_variables?: readonly string[] | undefined;
}

export default defineTool({
  name: "skill_view",
  toolset: "skills",
  emoji: "📖",
  description:
    "Read a skill: its instructions, and which files lie beside them; with file_path one of those. Scripts in it are run with terminal.",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1 },
      file_path: { type: "string", minLength: 1, description: "As linked_files names it." },
    },
    required: ["name"],
    additionalProperties: false,
  },
  permissions: [],
  effects: () => [],
  host: "skills",
  // Nobody has read it yet but the model that wrote it, and whoever told that model to.
  untrustedSource: ({ name }, { state }: SkillAnswer) =>
    state === "draft" ? `the draft of a skill, ${name}` : undefined,
  examples: [
    {
      title: "Read a skill before a task it is for",
      arguments: { name: "meeting-notes" },
      result: { success: true, name: "meeting-notes", linked_files: ["references/example.md"] },
    },
    {
      title: "Read a file that lies beside it",
      arguments: { name: "meeting-notes", file_path: "references/example.md" },
      result: { file: "references/example.md", content: "# Kickoff, 3 May\n" },
    },
  ],

  async handler({ name, file_path: file }, ctx): Promise<SkillAnswer> {
    if (ctx.host.skills === undefined)
      throw new ToolError("skill_view needs an agent loop that has skills.", { code: "unavailable" });
    const skill = await ctx.host.skills.view(name, file);
    const { category, description, state, content, files, path, missingVariables } = skill;
    return {
      success: true,
      name,
      category,
      description,
      ...(state === "draft" && { state }),
      file,
      content,
      linked_files: files,
      path,
      ...(missingVariables.length > 0 && { missing_environment_variables: missingVariables }),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `${mark.strong(out.name)} ${mark.dim(out.file ?? out.description)}`,
      out.content.trimEnd(),
      ...out.linked_files.map((file) => mark.dim(file)),
      ...(out.missing_environment_variables ?? []).map((name) => mark.warning(`${name} is not set`)),
    ].join("\n"),
  }),
});
