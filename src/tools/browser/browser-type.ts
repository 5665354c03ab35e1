import { defineTool } from "../../tool/define.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { actsOnPage } from "./page-effects.js";

export default defineTool({
  name: "browser_type",
  toolset: "browser",
  emoji: "⌨️",
  description:
    "Put text into a field by its ref, replacing what is there. For a list: the option to choose; for a file input: " +
    "paths in the workspace, one per line. browser_press Enter sends a form.",
  parameters: {
    type: "object",
    properties: { ref: { type: "string", description: "e5 or @e5" }, text: { type: "string" } },
    required: ["ref", "text"],
    additionalProperties: false,
  },
  permissions: ["browser:act", "file:read"],
  effects: (_args, scope) => [actsOnPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  async handler({ ref, text }, ctx): Promise<ActionAnswer> {
    const { typeInto } = await import("./type-into.js");
    return actOnPage(ctx, (tab) => typeInto({ tab, ref, text, ctx }));
  },

  untrustedSource: (_args, { url }) => url,
  present: presentAction,

  examples: [
    {
      title: "Fill in a field",
      pages: { "/": '<label>Name <input id="name"></label>' },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { ref: "e1", text: "Ada" },
      result: { success: true, done: 'typed 3 characters into textbox "Name"' },
      programs: ["chromium"],
    },
  ],
});
