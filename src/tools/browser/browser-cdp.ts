import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { actsOnPage } from "./page-effects.js";

interface CdpAnswer {
  readonly method: string;
  readonly url: string;
  readonly result: unknown;
  /** Present instead of a large result. */
  readonly result_path?: string | undefined;
}

export default defineTool({
  name: "browser_cdp",
  toolset: "browser",
  emoji: "🔧",
  description:
    "Send a Chrome DevTools Protocol command about the open page (DOM, CSS, Network, Emulation, Runtime …), where no " +
    "other browser tool does it.",
  parameters: {
    type: "object",
    properties: {
      method: { type: "string", description: "Domain.command", maxLength: 100 },
      params: { type: "object", additionalProperties: true },
      target_id: { type: "string", description: "Another tab of this session" },
    },
    required: ["method"],
    additionalProperties: false,
  },
  permissions: ["browser:act"],
  effects: (_args, scope) => [actsOnPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 60_000,

  async handler({ method, params, target_id }, ctx): Promise<CdpAnswer> {
    const { sendCommand } = await import("./send-command.js");
    return sendCommand({ method, params: params ?? {}, targetId: target_id, ctx });
  },

  untrustedSource: (_args, { url }) => url,
  present: (out) => ({ model: [text(JSON.stringify(out))], human: JSON.stringify(out.result, null, 2) }),

  examples: [
    {
      title: "Ask the page something by the protocol",
      pages: { "/": "<title>Deep</title>" },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { method: "Runtime.evaluate", params: { expression: "document.title" } },
      result: { result: { result: { type: "string", value: "Deep" } } },
      programs: ["chromium"],
    },
  ],
});
