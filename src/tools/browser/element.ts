import type { Locator } from "playwright-core";
import { ToolError } from "../../tool/errors.js";
import type { Tab } from "./tab.js";

export interface Element {
  readonly locator: Locator;
  /** As the snapshot names it: `button "Save"`. */
  readonly label: string;
}

/** The element behind a ref as models write it: `e5`, `@e5`, `ref=e5`, `[ref=e5]`. */
export async function elementOf(tab: Tab, given: string): Promise<Element> {
  const ref = /^\s*(?:@|\[?ref=)?(e\d+)\]?\s*$/.exec(given)?.[1];
  if (ref === undefined)
    throw new ToolError(`${JSON.stringify(given.slice(0, 60))} is no ref.`, {
      code: "invalid_arguments",
      hint: "Refs are in the snapshot of the page: [ref=e5] is given as e5.",
    });
  const name = tab.refs.nameOf(ref);
  if (name === undefined && !tab.refs.wasGiven(ref))
    throw new ToolError(`There is no element ${ref}: no snapshot has named one so.`, {
      code: "not_found",
      hint: "Take a browser_snapshot and use a ref from it.",
    });
  const locator = tab.page.locator(`aria-ref=${name}`);
  const found = name === undefined ? 0 : await locator.count().catch(() => 0);
  if (found === 0)
    throw new ToolError(`The element ${ref} is gone: the page is another one, or has changed since.`, {
      code: "not_found",
      hint: "Take a browser_snapshot: it names what is there now.",
    });
  const line = tab.shown.find((one) => one.ref === ref)?.text.replace(/ \[ref=[^\]]*\].*$/, "");
  return { locator, label: line ?? ref };
}
