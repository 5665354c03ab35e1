import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { askHoncho, HONCHO_NEEDS, honchoPlace, peerPath, textsIn } from "./honcho.js";

const MAX_CHARS = 30_000;

interface ContextAnswer {
  readonly peer: string;
  /** What Honcho concludes about the person, in words. */
  readonly representation: string;
  readonly facts: readonly string[];
  readonly truncated?: true | undefined;
  readonly url: string;
}

export default defineTool({
  name: "honcho_context",
  toolset: "honcho",
  emoji: "🧿",
  description: "What Honcho has concluded about the person, all of it or about one subject; no reasoning.",
  parameters: {
    type: "object",
    properties: { query: { type: "string", minLength: 1, maxLength: 2_000, description: "A subject" } },
    additionalProperties: false,
  },
  permissions: ["memory:read"],
  effects: () => [{ action: "memory:read", resource: "honcho", mode: "read" }],
  needs: HONCHO_NEEDS,
  timeoutMs: 60_000,

  async handler({ query }, ctx): Promise<ContextAnswer> {
    const answer = await askHoncho(ctx, { path: peerPath(ctx, "/context"), query: { search_query: query } });
    const fields = isRecord(answer) ? answer : {};
    const whole = typeof fields.representation === "string" ? fields.representation : "";
    const { peer, url } = honchoPlace(ctx);
    return {
      peer,
      representation: whole.slice(0, MAX_CHARS),
      facts: textsIn(fields.peer_card),
      ...(whole.length > MAX_CHARS && { truncated: true }),
      url,
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: [...out.facts.map((fact) => `- ${fact}`), out.representation].join("\n").trim(),
  }),

  examples: [
    {
      title: "Everything there is",
      settings: { "honcho.url": "{server}" },
      pages: {
        "/v3/workspaces/hermes/peers/user/context":
          '{"peer_id":"user","target_id":"user","representation":"Likes trains.","peer_card":["Name: Ada"]}',
      },
      arguments: {},
      result: { peer: "user", representation: "Likes trains.", facts: ["Name: Ada"] },
    },
  ],
});
