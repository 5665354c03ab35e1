import { defineTool } from "../../tool/define.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { looksAtPage } from "./page-effects.js";

/** A little of what was seen stays in sight. */
const SHARE = 0.85;

export default defineTool({
  name: "browser_scroll",
  toolset: "browser",
  emoji: "📜",
  description: "Scroll the open page by a screen, e.g. to make it load more.",
  parameters: {
    type: "object",
    properties: { direction: { type: "string", enum: ["up", "down"] } },
    required: ["direction"],
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: (_args, scope) => [looksAtPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  handler: ({ direction }, ctx): Promise<ActionAnswer> =>
    actOnPage(ctx, async ({ page }) => {
      const { width, height } = page.viewportSize() ?? { width: 1280, height: 800 };
      // In the middle, so that a list that scrolls by itself there does.
      await page.mouse.move(width / 2, height / 2);
      await page.mouse.wheel(0, Math.round(height * SHARE) * (direction === "down" ? 1 : -1));
      // The wheel turns smoothly; what it brings into sight may be loaded only then.
      await page.waitForTimeout(250);
      const place: unknown = await page.evaluate(
        "[Math.round(scrollY), Math.round(scrollY + innerHeight), document.documentElement.scrollHeight]",
      );
      const [top, bottom, all] = Array.isArray(place) ? place.map(Number) : [0, 0, 0];
      return `scrolled ${direction}: ${top} to ${bottom} of ${all} px are in sight`;
    }),

  untrustedSource: (_args, { url }) => url,
  present: presentAction,

  examples: [
    {
      title: "Look further down",
      pages: { "/": '<div style="height:3000px">Long</div>' },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { direction: "down" },
      result: { success: true },
      programs: ["chromium"],
    },
  ],
});
