import type { Page } from "playwright-core";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { firstLine } from "./explain-error.js";
import { browserSettings } from "./settings.js";

/** What an expression comes to in the page, as JSON; in the page's own world, with the page's own rights. */
export async function evaluated(page: Page, expression: string, ctx: CallContext): Promise<string> {
  const { timeoutMs } = browserSettings(ctx);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Timeout ${timeoutMs}ms exceeded`)), timeoutMs);
  });
  try {
    const value: unknown = await Promise.race([page.evaluate(expression), late]);
    return JSON.stringify(value) ?? "undefined";
  } catch (error) {
    const message = messageOf(error);
    if (/Execution context was destroyed|Cannot find context/.test(message))
      throw new ToolError("The page went elsewhere before the expression was evaluated.", {
        hint: "Look where it is with browser_snapshot, then ask again.",
      });
    if (!/^page\.evaluate: (?!Target|Page)/.test(message)) throw error;
    throw new ToolError(`The page answered: ${firstLine(message.replace(/^page\.evaluate: /, ""))}.`, {
      hint: "The expression is JavaScript in the page; its value must fit into JSON.",
    });
  } finally {
    clearTimeout(timer);
  }
}
