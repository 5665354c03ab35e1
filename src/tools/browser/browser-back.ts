import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { looksAtPage } from "./page-effects.js";

export default defineTool({
  name: "browser_back",
  toolset: "browser",
  emoji: "◀️",
  description: "Go back to the page before; closes a tab that has none.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["network:fetch"],
  effects: (_args, scope) => [looksAtPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  handler: (_args, ctx): Promise<ActionAnswer> =>
    actOnPage(ctx, async ({ page }, session) => {
      const before = page.url();
      const response = await page.goBack({ waitUntil: "domcontentloaded" });
      const went = response !== null || page.url() !== before;
      if (went && page.url() !== "about:blank") return "went back";
      if (await session.leaveTab()) return "closed the tab";
      if (went) await page.goForward({ waitUntil: "domcontentloaded" });
      throw new ToolError("There is no page before this one.", {
        hint: "Open another with browser_navigate.",
      });
    }),

  untrustedSource: (_args, { url }) => url,
  present: presentAction,

  examples: [
    {
      title: "Back to the first page",
      pages: { "/": "<title>First</title>", "/second": "<title>Second</title>" },
      before: [
        { name: "browser_navigate", arguments: { url: "{server}/" } },
        { name: "browser_navigate", arguments: { url: "{server}/second" } },
      ],
      arguments: {},
      result: { success: true, title: "First" },
      programs: ["chromium"],
    },
  ],
});
