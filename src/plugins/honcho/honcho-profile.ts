import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { askHoncho, HONCHO_NEEDS, honchoPlace, peerPath, textsIn } from "./honcho.js";

interface Profile {
  readonly peer: string;
  /** Lasting facts: name, work, preferences. */
  readonly facts: readonly string[];
  readonly note?: string | undefined;
  readonly url: string;
}

export default defineTool({
  name: "honcho_profile",
  toolset: "honcho",
  emoji: "🧿",
  description: "Key facts about the person, as Honcho keeps them; quick.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["memory:read"],
  effects: () => [{ action: "memory:read", resource: "honcho", mode: "read" }],
  needs: HONCHO_NEEDS,
  timeoutMs: 60_000,

  async handler(_args, ctx): Promise<Profile> {
    const answer = await askHoncho(ctx, { path: peerPath(ctx, "/card") });
    const facts = textsIn(isRecord(answer) ? answer.peer_card : undefined);
    const { peer, url } = honchoPlace(ctx);
    return {
      peer,
      facts,
      ...(facts.length === 0 && {
        note: "Honcho has no card of this person yet; honcho_conclude adds facts.",
      }),
      url,
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: out.facts.length === 0 ? (out.note ?? "") : out.facts.map((fact) => `- ${fact}`).join("\n"),
  }),

  examples: [
    {
      title: "Who is this?",
      settings: { "honcho.url": "{server}" },
      pages: {
        "/v3/workspaces/hermes/peers/user/card": '{"peer_card":["Name: Ada","Prefers short answers"]}',
      },
      arguments: {},
      result: { peer: "user", facts: ["Name: Ada", "Prefers short answers"] },
    },
  ],
});
