import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { type PageState, stateLines } from "./action.js";
import { webAddress } from "./address.js";
import { browserLock } from "./page-effects.js";

export interface NavigateAnswer extends PageState {
  /** The HTTP status; 0 when no server answered, as for about:blank. */
  readonly status: number;
  readonly snapshot: string;
  readonly truncated: boolean;
}

export default defineTool({
  name: "browser_navigate",
  toolset: "browser",
  emoji: "🌐",
  description:
    "Open an address in the session's browser; returns a compact snapshot with refs ([ref=e5]) for browser_click and " +
    "browser_type. To only read a page, web_extract is cheaper.",
  parameters: {
    type: "object",
    properties: { url: { type: "string", minLength: 1 } },
    required: ["url"],
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: ({ url }, scope) => [
    { action: "network:fetch", resource: webAddress(url), mode: "read", lock: browserLock(scope) },
  ],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  async handler({ url }, ctx): Promise<NavigateAnswer> {
    const { navigate } = await import("./navigate.js");
    return navigate(webAddress(url), ctx);
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({
    model: [text([`status: ${out.status}`, ...stateLines(out), out.snapshot].join("\n"))],
    human: [mark.heading(out.title || out.url), ...stateLines(out).map(mark.dim), out.snapshot].join("\n"),
  }),

  examples: [
    {
      title: "Open a page and see what can be clicked",
      pages: {
        "/": '<title>Shop</title><h1>Shop</h1><a href="/cart">Cart</a><button>Buy</button>',
      },
      arguments: { url: "{server}/" },
      result: {
        status: 200,
        title: "Shop",
        snapshot: '- heading "Shop" [level=1]\n- link "Cart" [ref=e1]\n- button "Buy" [ref=e2]',
      },
      programs: ["chromium"],
    },
  ],
});
