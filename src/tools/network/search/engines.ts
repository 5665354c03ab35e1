/** What is asked, as templates may name it: `{query}`, `{limit}`, `{key}`, `{after}`, `{range}`, `{safe}`. */
export interface Engine {
  readonly name: string;
  /** Other names that people and models use for it. */
  readonly also?: readonly string[];
  /** Variable that holds its key; without one, no key is needed. */
  readonly key?: string;
  /** The operator's own server: nothing to ask as long as no address is set. */
  readonly ownServer?: boolean;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values that come out empty are left out. */
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON; a text that is one template keeps the type of its value. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** How `date_range` is spelled: past_day, past_week, past_month, past_year. */
  readonly ranges?: Readonly<Record<string, string>>;
  /** How `safe_search` on and off are spelled. */
  readonly safe?: readonly [on: string, off: string];
  readonly answer:
    | {
        /** Where the list of results is, and the fields of one. */
        readonly results: string;
        readonly total?: string;
        readonly fields: {
          readonly title: string;
          readonly url: string;
          readonly snippet: string;
          readonly score?: string;
        };
      }
    | "duckduckgo-page";
}

const CALENDAR = { past_day: "day", past_week: "week", past_month: "month", past_year: "year" };

/** One row per engine, in the order they are tried; each as its documentation describes it (2026-11). */
export const ENGINES: readonly Engine[] = [
  {
    // docs.searxng.org/dev/search_api.html
    name: "searxng",
    ownServer: true,
    url: "/search",
    query: { q: "{query}", format: "json", time_range: "{range}", safesearch: "{safe}" },
    ranges: CALENDAR,
    safe: ["2", "0"],
    answer: {
      results: "results",
      total: "number_of_results",
      fields: { title: "title", url: "url", snippet: "content", score: "score" },
    },
  },
  {
    // api-dashboard.search.brave.com/app/documentation/web-search
    name: "brave",
    key: "BRAVE_API_KEY",
    url: "https://api.search.brave.com/res/v1/web/search",
    headers: { accept: "application/json", "x-subscription-token": "{key}" },
    query: { q: "{query}", count: "{limit}", freshness: "{range}", safesearch: "{safe}" },
    ranges: { past_day: "pd", past_week: "pw", past_month: "pm", past_year: "py" },
    safe: ["strict", "off"],
    answer: { results: "web.results", fields: { title: "title", url: "url", snippet: "description" } },
  },
  {
    // docs.tavily.com/documentation/api-reference/endpoint/search
    name: "tavily",
    key: "TAVILY_API_KEY",
    url: "https://api.tavily.com/search",
    headers: { authorization: "Bearer {key}" },
    body: { query: "{query}", max_results: "{limit}", time_range: "{range}" },
    ranges: CALENDAR,
    answer: {
      results: "results",
      fields: { title: "title", url: "url", snippet: "content", score: "score" },
    },
  },
  {
    // docs.exa.ai/reference/search
    name: "exa",
    key: "EXA_API_KEY",
    url: "https://api.exa.ai/search",
    headers: { "x-api-key": "{key}" },
    body: {
      query: "{query}",
      numResults: "{limit}",
      startPublishedDate: "{after}",
      contents: { text: { maxCharacters: 500 } },
    },
    answer: { results: "results", fields: { title: "title", url: "url", snippet: "text", score: "score" } },
  },
  {
    // docs.parallel.ai/search-api
    name: "parallel",
    key: "PARALLEL_API_KEY",
    url: "https://api.parallel.ai/v1beta/search",
    headers: { "x-api-key": "{key}" },
    body: { objective: "{query}", search_queries: ["{query}"], max_results: "{limit}" },
    answer: { results: "results", fields: { title: "title", url: "url", snippet: "excerpts" } },
  },
  {
    // docs.firecrawl.dev/api-reference/endpoint/search
    name: "firecrawl",
    key: "FIRECRAWL_API_KEY",
    url: "https://api.firecrawl.dev/v2/search",
    headers: { authorization: "Bearer {key}" },
    body: { query: "{query}", limit: "{limit}", tbs: "{range}" },
    ranges: { past_day: "qdr:d", past_week: "qdr:w", past_month: "qdr:m", past_year: "qdr:y" },
    answer: { results: "data.web", fields: { title: "title", url: "url", snippet: "description" } },
  },
  {
    // serpapi.com/search-api
    name: "serpapi",
    also: ["google"],
    key: "SERPAPI_API_KEY",
    url: "https://serpapi.com/search.json",
    query: {
      engine: "google",
      q: "{query}",
      num: "{limit}",
      tbs: "{range}",
      safe: "{safe}",
      api_key: "{key}",
    },
    ranges: { past_day: "qdr:d", past_week: "qdr:w", past_month: "qdr:m", past_year: "qdr:y" },
    safe: ["active", "off"],
    answer: {
      results: "organic_results",
      total: "search_information.total_results",
      fields: { title: "title", url: "link", snippet: "snippet" },
    },
  },
  {
    // The page for browsers without scripts; it has no documented interface.
    name: "duckduckgo",
    also: ["ddg"],
    url: "https://html.duckduckgo.com/html/",
    query: { q: "{query}", df: "{range}", kp: "{safe}" },
    ranges: { past_day: "d", past_week: "w", past_month: "m", past_year: "y" },
    safe: ["1", "-2"],
    answer: "duckduckgo-page",
  },
];

export function engineNamed(name: string): Engine | undefined {
  const wanted = name.trim().toLowerCase();
  return ENGINES.find((engine) => engine.name === wanted || engine.also?.includes(wanted) === true);
}
