import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { SkillChange } from "../../tool/host-capabilities.js";
import { mark } from "../../tool/marked-text.js";

const ACTIONS = ["create", "edit", "patch", "delete", "write_file", "remove_file"] as const;

interface ManageAnswer {
  readonly success: true;
  readonly name: string;
  readonly category?: string | undefined;
  readonly state: "draft" | "deleted";
  readonly path: string;
  readonly message: string;
}

export default defineTool({
  name: "skill_manage",
  toolset: "skills",
  emoji: "🛠️",
  description:
    "Write down how a kind of work is done, for later conversations: create takes a whole SKILL.md, edit replaces it, " +
    "patch changes a passage, write_file and remove_file are for files beside it. It stays a draft until a person " +
    "accepts it. Look at skills_list first; only for what worked and will come again.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ACTIONS },
      name: { type: "string", minLength: 1, maxLength: 64, description: "a-z, 0-9 and -." },
      category: { type: "string", minLength: 1, maxLength: 64 },
      content: {
        type: "string",
        maxLength: 100_000,
        description:
          "create, edit: ---, name, description (what for, when), ---, instructions. write_file: the file.",
      },
      old_string: { type: "string", maxLength: 100_000 },
      new_string: { type: "string", maxLength: 100_000 },
      replace_all: { type: "boolean" },
      file_path: {
        type: "string",
        maxLength: 200,
        description: "Below scripts/, references/, assets/ or templates/.",
      },
    },
    required: ["action", "name"],
    additionalProperties: false,
  },
  permissions: ["skills:write"],
  effects: ({ action, name, content, new_string }) => [
    {
      action: "skills:write",
      resource: name,
      mode: "write",
      detail: [action, content ?? new_string].filter((part) => part !== undefined).join(": "),
      lock: { name: "skills", shared: false },
      reversible: action !== "delete",
    },
  ],
  host: "skills",
  examples: [
    {
      title: "Write down how releases are made",
      arguments: {
        action: "create",
        name: "cut-release",
        category: "coding",
        content:
          "---\nname: cut-release\ndescription: How a release of this project is cut, from the changelog to the tag\n---\n1. Run the tests.\n2. Move the changelog entries below the new version.\n3. Tag it.\n",
      },
      result: { success: true, name: "cut-release", category: "coding", state: "draft" },
    },
  ],

  async handler(args, ctx): Promise<ManageAnswer> {
    if (ctx.host.skills === undefined)
      throw new ToolError("skill_manage needs an agent loop that has skills.", { code: "unavailable" });
    const { name, category, state, path, replaces } = await ctx.host.skills.change(changeFrom(args));
    const message =
      state === "deleted"
        ? "The draft is deleted."
        : `It is a draft${replaces ? " that would take the place of the one in use" : ""}; a person accepts it with: hermes skills accept ${name}`;
    return { success: true, name, category, state, path, message };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `${mark.strong(out.name)} ${out.state === "draft" ? mark.warning("draft") : mark.dim(out.state)}\n${out.message}`,
  }),
});

interface ManageArguments {
  readonly action: (typeof ACTIONS)[number];
  readonly name: string;
  readonly category?: string | undefined;
  readonly content?: string | undefined;
  readonly old_string?: string | undefined;
  readonly new_string?: string | undefined;
  readonly replace_all?: boolean | undefined;
  readonly file_path?: string | undefined;
}

function changeFrom(args: ManageArguments): SkillChange {
  const { action, name, category } = args;
  switch (action) {
    case "create":
      return { action, name, category, content: needed(args, "content") };
    case "edit":
      return { action, name, content: needed(args, "content") };
    case "patch":
      return {
        action,
        name,
        file: args.file_path,
        oldText: needed(args, "old_string"),
        newText: needed(args, "new_string"),
        everywhere: args.replace_all,
      };
    case "write_file":
      return { action, name, file: needed(args, "file_path"), content: needed(args, "content") };
    case "remove_file":
      return { action, name, file: needed(args, "file_path") };
    case "delete":
      return { action, name };
  }
}

function needed(args: ManageArguments, field: "content" | "old_string" | "new_string" | "file_path"): string {
  const given = args[field];
  if (given !== undefined) return given;
  throw new ToolError(`The action ${args.action} needs ${field}; nothing was changed.`, {
    code: "invalid_arguments",
  });
}
