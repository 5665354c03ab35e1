import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { askHoncho, HONCHO_NEEDS, honchoPlace, peerPath } from "./honcho.js";

const MAX_CHARS = 2_000;

interface Found {
  readonly content: string;
  readonly session?: string | undefined;
  readonly at?: string | undefined;
}

interface SearchAnswer {
  readonly query: string;
  readonly results: readonly Found[];
  readonly url: string;
}

export default defineTool({
  name: "honcho_search",
  toolset: "honcho",
  emoji: "🧿",
  description: "Search what the person has said in earlier conversations; raw excerpts.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 2_000 },
      limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
    },
    required: ["query"],
    additionalProperties: false,
  },
  permissions: ["memory:read"],
  effects: () => [{ action: "memory:read", resource: "honcho", mode: "read" }],
  needs: HONCHO_NEEDS,
  timeoutMs: 60_000,

  async handler({ query, limit }, ctx): Promise<SearchAnswer> {
    const answer = await askHoncho(ctx, { path: peerPath(ctx, "/search"), body: { query, limit } });
    // Servers before version 3 answered in pages.
    const rows = isRecord(answer) ? answer.items : answer;
    const results = (Array.isArray(rows) ? rows : [])
      .filter(isRecord)
      .slice(0, limit)
      .map((row) => ({
        content: String(row.content ?? "").slice(0, MAX_CHARS),
        ...(typeof row.session_id === "string" && { session: row.session_id }),
        ...(typeof row.created_at === "string" && { at: row.created_at }),
      }));
    return { query, results, url: honchoPlace(ctx).url };
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human:
      out.results.length === 0
        ? "nothing found"
        : out.results.map(({ content, at }) => `${content}  ${mark.dim(at ?? "")}`).join("\n"),
  }),

  examples: [
    {
      title: "What was said about travelling?",
      settings: { "honcho.url": "{server}" },
      pages: {
        "/v3/workspaces/hermes/peers/user/search":
          '[{"id":"m1","content":"I get sick on boats","peer_id":"user","session_id":"s1","created_at":"2026-05-01T10:00:00Z"}]',
      },
      arguments: { query: "travelling" },
      result: { results: [{ content: "I get sick on boats", session: "s1" }] },
    },
  ],
});
