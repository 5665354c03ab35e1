import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { askHoncho, HONCHO_NEEDS, honchoPlace, peerPath } from "./honcho.js";

interface ReasoningAnswer {
  readonly query: string;
  readonly answer: string;
  readonly url: string;
}

export default defineTool({
  name: "honcho_reasoning",
  toolset: "honcho",
  emoji: "🧿",
  description:
    "Ask Honcho a question about the person; a model reasons over all it knows, which takes a while.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 10_000 },
      reasoning_level: { type: "string", enum: ["minimal", "low", "medium", "high", "max"] },
    },
    required: ["query"],
    additionalProperties: false,
  },
  permissions: ["memory:read"],
  effects: () => [{ action: "memory:read", resource: "honcho", mode: "read" }],
  needs: HONCHO_NEEDS,
  timeoutMs: 180_000,

  async handler({ query, reasoning_level }, ctx): Promise<ReasoningAnswer> {
    ctx.progress({ message: "Honcho is thinking" });
    const answer = await askHoncho(ctx, {
      path: peerPath(ctx, "/chat"),
      body: { query, stream: false, ...(reasoning_level !== undefined && { reasoning_level }) },
      timeoutMs: 150_000,
    });
    const content = isRecord(answer) ? answer.content : undefined;
    return {
      query,
      answer: typeof content === "string" && content !== "" ? content : "Honcho knows nothing about that.",
      url: honchoPlace(ctx).url,
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({ model: [text(JSON.stringify(out))], human: out.answer }),

  examples: [
    {
      title: "How to speak with this person?",
      settings: { "honcho.url": "{server}" },
      pages: { "/v3/workspaces/hermes/peers/user/chat": '{"content":"Briefly, and with numbers."}' },
      arguments: { query: "How should I speak with this person?" },
      result: { answer: "Briefly, and with numbers." },
    },
  ],
});
