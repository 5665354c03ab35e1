import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import type { SearchResult } from "./search/ask-engine.js";

interface SearchOutput {
  readonly success: true;
  readonly status: "success";
  readonly results: readonly SearchResult[];
  readonly total_results: number;
  readonly query_time_ms: number;
  /** Which one answered. */
  readonly engine: string;
  readonly cached?: boolean | undefined;
  /** Engines that were asked before and could not answer. */
  readonly skipped?: readonly { readonly engine: string; readonly why: string }[] | undefined;
  readonly note?: string | undefined;
}

export default defineTool({
  name: "web_search",
  toolset: "web",
  emoji: "🔍",
  description: "Search the web; returns titles, addresses and snippets. Read the pages with web_extract.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 400 },
      limit: { type: "integer", minimum: 1, maximum: 20, default: 5 },
      search_engine: { type: "string", description: "Only when a certain engine is wanted" },
      date_range: { type: "string", enum: ["past_day", "past_week", "past_month", "past_year"] },
      safe_search: { type: "boolean" },
    },
    required: ["query"],
    additionalProperties: false,
  },
  aliasArguments: {
    web_search: ({ max_results, ...args }) =>
      max_results === undefined ? args : { limit: max_results, ...args },
  },
  permissions: ["network:search"],
  effects: ({ query }) => [{ action: "network:search", resource: query, mode: "read" }],
  idempotent: true,
  timeoutMs: 90_000,

  async handler({ query, limit, search_engine, date_range, safe_search }, ctx): Promise<SearchOutput> {
    const { searchTheWeb } = await import("./search/search-the-web.js");
    const request = { query, limit, dateRange: date_range, safeSearch: safe_search };
    return searchTheWeb({ request, engine: search_engine, ctx });
  },

  untrustedSource: (_args, { engine }) => `web_search:${engine}`,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      ...out.results.map(
        ({ title, url, snippet }, at) =>
          `${mark.dim(`${at + 1}.`)} ${mark.strong(title)}\n   ${mark.path(url)}\n   ${snippet}`,
      ),
      mark.dim(
        out.results.length === 0
          ? `nothing found by ${out.engine}`
          : `${out.results.length} of ${out.total_results} by ${out.engine}`,
      ),
      ...(out.note === undefined ? [] : [out.note]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Search a folder of documents, without any key",
      files: {
        "bread.md": "# Sourdough\n\nA starter of flour and water.",
        "tea.md": "# Tea\n\nBoil water first.",
      },
      arguments: { query: "sourdough starter" },
      result: { engine: "local", results: [{ title: "Sourdough" }] },
    },
  ],
});
