import { defineTool } from "../../tool/define.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { elementOf } from "./element.js";
import { actsOnPage } from "./page-effects.js";

export default defineTool({
  name: "browser_click",
  toolset: "browser",
  emoji: "👆",
  description: "Click an element by the ref that a snapshot gave it; tells what changed.",
  parameters: {
    type: "object",
    properties: { ref: { type: "string", description: "e5 or @e5" } },
    required: ["ref"],
    additionalProperties: false,
  },
  permissions: ["browser:act"],
  effects: (_args, scope) => [actsOnPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  handler: ({ ref }, ctx): Promise<ActionAnswer> =>
    actOnPage(ctx, async (tab) => {
      const { locator, label } = await elementOf(tab, ref);
      await locator.click({ signal: ctx.signal });
      return `clicked ${label}`;
    }),

  untrustedSource: (_args, { url }) => url,
  present: presentAction,

  examples: [
    {
      title: "Press a button and see what it did",
      pages: {
        "/": "<button onclick=\"this.after('Saved')\">Save</button>",
      },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { ref: "e1" },
      result: { success: true, done: 'clicked button "Save"' },
      programs: ["chromium"],
    },
  ],
});
