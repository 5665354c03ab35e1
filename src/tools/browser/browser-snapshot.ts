import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { type PageState, stateLines } from "./action.js";
import { looksAtPage } from "./page-effects.js";

interface SnapshotAnswer extends PageState {
  readonly snapshot: string;
  /** Lines of the whole. */
  readonly element_count: number;
  readonly truncated: boolean;
  /** Where the whole is when it was shortened. */
  readonly full_path?: string | undefined;
}

export default defineTool({
  name: "browser_snapshot",
  toolset: "browser",
  emoji: "📋",
  description:
    "The open page as text with refs for what can be clicked or typed into. full=true adds structure and link addresses.",
  parameters: {
    type: "object",
    properties: { full: { type: "boolean", default: false } },
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: (_args, scope) => [looksAtPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 60_000,
  maxResultSizeChars: Number.POSITIVE_INFINITY,

  async handler({ full }, ctx): Promise<SnapshotAnswer> {
    const { snapshotOfPage } = await import("./snapshot-of-page.js");
    return snapshotOfPage(full, ctx);
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({
    model: [text([...stateLines(out), out.snapshot].join("\n"))],
    human: [mark.heading(out.title || out.url), ...stateLines(out).map(mark.dim), out.snapshot].join("\n"),
  }),

  examples: [
    {
      title: "See the page again",
      pages: { "/": "<title>Form</title><label>Name <input></label><button>Send</button>" },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: {},
      result: { title: "Form", truncated: false },
      programs: ["chromium"],
    },
  ],
});
