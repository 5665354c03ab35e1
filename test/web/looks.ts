import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems, sidewaysScroll } from "./server.js";

/** Nothing that axe-core finds, and no sideways scroll, in both themes and both widths. */
export async function expectGoodLooks(tab: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 400]) {
      await tab.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await tab.setViewportSize({ width, height: 860 });
      expect(await sidewaysScroll(tab), `${width} px`).toBe(0);
      expect(await axeProblems(tab), `${colorScheme} ${width} px`).toEqual([]);
    }
  await tab.setViewportSize({ width: 1280, height: 900 });
}

/** A text that would run as markup has stayed a text. */
export async function expectUnharmed(tab: Page): Promise<void> {
  expect(await tab.evaluate("window.attacked")).toBeUndefined();
  expect(
    await tab
      .locator("main :is(script, iframe, object, embed, base, form[action], svg[onload], img[src='x'])")
      .count(),
  ).toBe(0);
}
