import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { actsOnPage } from "./page-effects.js";

/** As people call them → as the DOM does. */
const NAMES: Readonly<Record<string, string>> = {
  ctrl: "Control",
  control: "Control",
  cmd: "Meta",
  command: "Meta",
  meta: "Meta",
  option: "Alt",
  alt: "Alt",
  shift: "Shift",
  esc: "Escape",
  escape: "Escape",
  return: "Enter",
  enter: "Enter",
  tab: "Tab",
  space: "Space",
  del: "Delete",
  delete: "Delete",
  backspace: "Backspace",
  up: "ArrowUp",
  down: "ArrowDown",
  left: "ArrowLeft",
  right: "ArrowRight",
  pageup: "PageUp",
  pagedown: "PageDown",
  home: "Home",
  end: "End",
};

export default defineTool({
  name: "browser_press",
  toolset: "browser",
  emoji: "🔘",
  description: "Press a key, or several at once (Enter, Escape, ArrowDown, Control+A), where the cursor is.",
  parameters: {
    type: "object",
    properties: { key: { type: "string", minLength: 1, maxLength: 60 } },
    required: ["key"],
    additionalProperties: false,
  },
  permissions: ["browser:act"],
  effects: (_args, scope) => [actsOnPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  handler: ({ key }, ctx): Promise<ActionAnswer> =>
    actOnPage(ctx, async ({ page }) => {
      const keys = named(key);
      try {
        await page.keyboard.press(keys);
      } catch (error) {
        if (!/Unknown key/i.test(String(error))) throw error;
        throw new ToolError(`There is no key ${JSON.stringify(key)}.`, {
          code: "invalid_arguments",
          hint: "Names are those of the DOM: Enter, Tab, ArrowDown, Control+A; text is typed with browser_type.",
        });
      }
      return `pressed ${keys}`;
    }),

  untrustedSource: (_args, { url }) => url,
  present: presentAction,

  examples: [
    {
      title: "Send a form with Enter",
      pages: {
        "/": "<form onsubmit=\"document.title = 'Sent'; return false\"><input autofocus></form>",
      },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { key: "Enter" },
      result: { success: true, done: "pressed Enter", title: "Sent" },
      programs: ["chromium"],
    },
  ],
});

function named(key: string): string {
  const parts = key === "+" ? ["+"] : key.trim().split(/\+(?=.)/);
  return parts.map((part) => NAMES[part.toLowerCase()] ?? part).join("+");
}
