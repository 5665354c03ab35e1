import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { actsOnPage, looksAtPage } from "./page-effects.js";
import type { ConsoleEntry } from "./tab.js";

const RESULT_CHARS = 20_000;
const SHOWN = 100;
/** A page can log more than anybody wants to read. */
const SHOWN_CHARS = 20_000;

interface ConsoleAnswer {
  readonly url: string;
  readonly messages: readonly ConsoleEntry[];
  /** Uncaught errors of the page, and what it logged as one. */
  readonly errors: readonly ConsoleEntry[];
  /** What the expression came to, as JSON. */
  readonly result?: string | undefined;
  readonly truncated: boolean;
}

export default defineTool({
  name: "browser_console",
  toolset: "browser",
  emoji: "🖥️",
  description:
    "Console messages and errors of the open page; with expression, first evaluates JavaScript in it.",
  parameters: {
    type: "object",
    properties: {
      clear: { type: "boolean", default: false, description: "Forget them afterwards" },
      expression: { type: "string", description: "JavaScript; may be awaited" },
    },
    additionalProperties: false,
  },
  permissions: ["network:fetch", "browser:act"],
  effects: ({ expression }, scope) => [expression === undefined ? looksAtPage(scope) : actsOnPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 60_000,

  async handler({ clear, expression }, ctx): Promise<ConsoleAnswer> {
    const [{ BrowserSession }, { evaluated }] = await Promise.all([
      import("./session.js"),
      import("./evaluated.js"),
    ]);
    const session = ctx.keep(BrowserSession);
    return session.use(ctx, {}, async (tab) => {
      const value =
        expression === undefined
          ? undefined
          : await session.act(tab, ctx, () => evaluated(tab.page, expression, ctx));
      const result = value?.value;
      const messages = newest(tab.messages);
      const errors = newest(tab.errors);
      const answer = {
        url: tab.page.url(),
        messages,
        errors,
        ...(result !== undefined && { result: result.slice(0, RESULT_CHARS) }),
        truncated:
          tab.messages.length > messages.length ||
          tab.errors.length > errors.length ||
          (result?.length ?? 0) > RESULT_CHARS,
      };
      if (clear) {
        tab.messages.length = 0;
        tab.errors.length = 0;
      }
      return answer;
    });
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      ...(out.result === undefined ? [] : [out.result]),
      ...out.messages.map(({ type, text: said }) =>
        type === "error" ? mark.bad(said) : `${mark.dim(type)} ${said}`,
      ),
      ...out.errors.filter(({ location }) => location === undefined).map(({ text: said }) => mark.bad(said)),
    ].join("\n"),
  }),

  examples: [
    {
      title: "What a page logged, and something asked of it",
      pages: { "/": '<script>console.log("ready")</script><p>One</p><p>Two</p>' },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { expression: "document.querySelectorAll('p').length" },
      result: { messages: [{ type: "log", text: "ready" }], errors: [], result: "2" },
      programs: ["chromium"],
    },
  ],
});

/** As many as there is room for, the last ones. */
function newest(entries: readonly ConsoleEntry[]): readonly ConsoleEntry[] {
  let first = entries.length;
  let left = SHOWN_CHARS;
  while (first > Math.max(0, entries.length - SHOWN)) {
    left -= entries[first - 1]?.text.length ?? 0;
    if (left < 0) break;
    first -= 1;
  }
  return entries.slice(first);
}
