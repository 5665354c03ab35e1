import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { looksAtPage } from "./page-effects.js";

export interface VisionAnswer {
  /** What the model said. */
  readonly analysis: string;
  readonly screenshot_path: string;
  readonly model: string;
  readonly url: string;
}

export default defineTool({
  name: "browser_vision",
  toolset: "browser",
  emoji: "👁️",
  description:
    "Ask a vision model about a picture of the open page; annotate=true writes the refs of what can be clicked into it.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", minLength: 1, maxLength: 20_000 },
      annotate: { type: "boolean", default: false },
    },
    required: ["question"],
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: (_args, scope) => [looksAtPage(scope)],
  needs: {
    packages: ["playwright-core", "sharp"],
    browser: true,
    anyOf: [{ anyEnv: ["OPENAI_API_KEY"], fix: "OPENAI_API_KEY=..." }, { anySetting: ["vision.base_url"] }],
  },
  timeoutMs: 180_000,

  async handler({ question, annotate }, ctx): Promise<VisionAnswer> {
    const { lookAndAsk } = await import("./look-and-ask.js");
    return lookAndAsk({ question, annotate, ctx });
  },

  untrustedSource: (_args, { url }) => url,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `${out.analysis}\n${mark.dim("picture:")} ${mark.path(out.screenshot_path)}`,
  }),

  examples: [
    {
      title: "Ask what a chart on a page shows",
      pages: {
        "/": '<title>Sales</title><div style="width:90px;height:300px;background:#c00"></div>',
        "/v1/chat/completions":
          '{"model":"seer","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"One red bar."}}]}',
      },
      settings: { "vision.base_url": "{server}/v1", "vision.model": "seer" },
      before: [{ name: "browser_navigate", arguments: { url: "{server}/" } }],
      arguments: { question: "What does the chart show?" },
      result: { analysis: "One red bar.", model: "seer" },
      programs: ["chromium"],
    },
  ],
});
