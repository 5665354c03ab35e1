import type { Page } from "playwright-core";
import { defineTool } from "../../tool/define.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { looksAtPage } from "./page-effects.js";

/** A little of what was seen stays in sight. */
const SHARE = 0.85;
/** The wheel turns smoothly; what it brings into sight may be loaded only then. */
const LOOK_MS = 125;
const LOOKS = 16;
/** After which a page that has no further to go is taken at its word. */
const LOOKS_AT_END = 2;

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
      const before = await placeOf(page);
      // In the middle, so that a list that scrolls by itself there does.
      await page.mouse.move(width / 2, height / 2);
      await page.mouse.wheel(0, Math.round(height * SHARE) * (direction === "down" ? 1 : -1));
      const { top, bottom, all } = await stoodStill({ page, before, direction });
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

interface Place {
  readonly top: number;
  readonly bottom: number;
  readonly all: number;
}

async function placeOf(page: Page): Promise<Place> {
  const place: unknown = await page.evaluate(
    "[Math.round(scrollY), Math.round(scrollY + innerHeight), document.documentElement.scrollHeight]",
  );
  const [top = 0, bottom = 0, all = 0] = Array.isArray(place) ? place.map(Number) : [];
  return { top, bottom, all };
}

/** Where the page is when it has moved and moves no more. What scrolls in a box of its own is not seen here. */
async function stoodStill({
  page,
  before,
  direction,
}: {
  readonly page: Page;
  readonly before: Place;
  readonly direction: "up" | "down";
}): Promise<Place> {
  const canMove = direction === "up" ? before.top > 0 : before.bottom < before.all;
  let last = before;
  for (let looks = 1; looks <= LOOKS; looks += 1) {
    await page.waitForTimeout(LOOK_MS);
    const now = await placeOf(page);
    if (now.top === last.top && (now.top !== before.top || (!canMove && looks >= LOOKS_AT_END))) return now;
    last = now;
  }
  return last;
}
