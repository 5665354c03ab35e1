import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { askHoncho, HONCHO_NEEDS, honchoPlace } from "./honcho.js";

export default defineTool({
  name: "honcho_conclude",
  toolset: "honcho",
  emoji: "🧿",
  description: "Tell Honcho a lasting fact about the person, in one sentence.",
  parameters: {
    type: "object",
    properties: { conclusion: { type: "string", minLength: 1, maxLength: 10_000 } },
    required: ["conclusion"],
    additionalProperties: false,
  },
  permissions: ["memory:write"],
  everyCallNeeds: ["memory:write"],
  effects: () => [{ action: "memory:write", resource: "honcho", mode: "write" }],
  needs: HONCHO_NEEDS,
  timeoutMs: 60_000,

  async handler({ conclusion }, ctx) {
    const { peer } = honchoPlace(ctx);
    const answer = await askHoncho(ctx, {
      path: "/conclusions",
      body: {
        conclusions: [{ content: conclusion, observer_id: peer, observed_id: peer, session_id: null }],
      },
    });
    const [made] = Array.isArray(answer) ? answer : [];
    if (!isRecord(made)) throw new ToolError("Honcho did not say that it kept the conclusion.");
    return { success: true, status: "success", id: String(made.id ?? ""), peer, conclusion };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: `${mark.good("kept")} ${out.conclusion} ${mark.dim(`about ${out.peer}`)}`,
  }),

  examples: [
    {
      title: "Remember a preference",
      settings: { "honcho.url": "{server}" },
      pages: {
        "/v3/workspaces/hermes/conclusions":
          '[{"id":"c1","content":"Prefers tea","observer_id":"user","observed_id":"user","session_id":null,"created_at":"2026-05-01T10:00:00Z"}]',
      },
      arguments: { conclusion: "Prefers tea" },
      result: { success: true, id: "c1", peer: "user" },
    },
  ],
});
