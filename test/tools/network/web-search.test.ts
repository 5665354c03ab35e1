import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ENGINES } from "../../../src/tools/network/search/engines.js";
import { testRuntime } from "../../support/runtime.js";
import { json, type Page, startSite } from "./site.js";

const RESULT = { title: "Bread", url: "https://example.org/bread", snippet: "Flour and water" };

/** What each engine answers to one search, as its documentation shows it. */
const ANSWERS: Readonly<Record<string, { readonly path: string; readonly page: Page }>> = {
  searxng: {
    path: "/search",
    page: json({
      number_of_results: 0,
      results: [{ title: "Bread", url: RESULT.url, content: RESULT.snippet, score: 2.5 }],
    }),
  },
  brave: {
    path: "/res/v1/web/search",
    page: json({
      web: { results: [{ title: "<strong>Bread</strong>", url: RESULT.url, description: RESULT.snippet }] },
    }),
  },
  tavily: {
    path: "/search",
    page: json({ results: [{ title: "Bread", url: RESULT.url, content: RESULT.snippet, score: 0.9 }] }),
  },
  exa: {
    path: "/search",
    page: json({ results: [{ title: "Bread", url: RESULT.url, text: RESULT.snippet }] }),
  },
  parallel: {
    path: "/v1beta/search",
    page: json({ results: [{ title: "Bread", url: RESULT.url, excerpts: [RESULT.snippet] }] }),
  },
  firecrawl: {
    path: "/v2/search",
    page: json({ data: { web: [{ title: "Bread", url: RESULT.url, description: RESULT.snippet }] } }),
  },
  serpapi: {
    path: "/search.json",
    page: json({
      search_information: { total_results: 847_000 },
      organic_results: [{ title: "Bread", link: RESULT.url, snippet: RESULT.snippet }],
    }),
  },
  duckduckgo: {
    path: "/html/",
    page: `<div class="result result--ad"><a class="result__a" href="https://ads.example/">Ad</a></div>
<div class="result"><h2><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fbread&rut=1">Bread</a></h2>
<a class="result__snippet">Flour and <b>water</b></a></div>`,
  },
};

const KEY = "k-123456789";
const WORDS = "bread & butter";

/** What each engine must be asked, as its documentation (named in engines.ts) has it. */
const ASKED: Readonly<Record<string, { readonly headers?: object; readonly [part: string]: unknown }>> = {
  searxng: { method: "GET", query: { q: WORDS, format: "json", time_range: "week", safesearch: "2" } },
  brave: {
    method: "GET",
    query: { q: WORDS, count: "3", freshness: "pw", safesearch: "strict" },
    headers: { "x-subscription-token": KEY, accept: "application/json" },
  },
  tavily: {
    method: "POST",
    body: { query: WORDS, max_results: 3, time_range: "week" },
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
  },
  exa: {
    method: "POST",
    body: {
      query: WORDS,
      numResults: 3,
      startPublishedDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      contents: { text: { maxCharacters: 500 } },
    },
    headers: { "x-api-key": KEY },
  },
  parallel: {
    method: "POST",
    body: { objective: WORDS, search_queries: [WORDS], max_results: 3 },
    headers: { "x-api-key": KEY },
  },
  firecrawl: {
    method: "POST",
    body: { query: WORDS, limit: 3, tbs: "qdr:w" },
    headers: { authorization: `Bearer ${KEY}` },
  },
  serpapi: {
    method: "GET",
    query: { engine: "google", q: WORDS, num: "3", tbs: "qdr:w", safe: "active", api_key: KEY },
  },
  duckduckgo: { method: "GET", query: { q: WORDS, df: "w", kp: "1" } },
};

async function session(options: {
  readonly urls?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
}) {
  const { runtime, cwd } = await testRuntime([], {
    builtins: true,
    env: { PATH: process.env.PATH, ...options.env },
    flags: { tool_settings: { web_search: { urls: options.urls ?? {} } }, ...options.flags },
  });
  const opened = await runtime.openSession();
  return {
    cwd,
    search: (args: Record<string, unknown>) => opened.call({ name: "web_search", arguments: args }),
  };
}

describe("engines", () => {
  it.each(ENGINES.map((engine) => [engine.name, engine] as const))("%s", async (name, engine) => {
    const answer = ANSWERS[name];
    const site = await startSite({ [answer?.path ?? ""]: answer?.page ?? "" });
    const { search } = await session({
      urls: { [name]: site.base },
      env: engine.key === undefined ? { SEARXNG_URL: site.base } : { [engine.key]: KEY },
    });
    const result = await search({
      query: WORDS,
      search_engine: name,
      limit: 3,
      date_range: "past_week",
      safe_search: true,
    });
    expect(result.error).toBeUndefined();
    // The shape of the book.
    expect(result.structured).toMatchObject({
      status: "success",
      engine: name,
      results: [RESULT],
      total_results: expect.any(Number),
      query_time_ms: expect.any(Number),
    });
    expect(JSON.stringify(result)).not.toContain(KEY);
    const [line = ""] = site.seen;
    const [method, address = ""] = line.split(" ");
    const { searchParams } = new URL(address, site.base);
    const { headers = {}, ...asked } = ASKED[name] ?? {};
    expect({
      method,
      ...(method === "GET"
        ? { query: Object.fromEntries(searchParams) }
        : { body: JSON.parse(site.bodies[0] ?? "") }),
    }).toEqual(asked);
    expect(site.headers[0]).toMatchObject(headers);
  });

  it("the names of the book work: google, max_results", async () => {
    const site = await startSite({ "/search.json": ANSWERS.serpapi?.page ?? "" });
    const { search } = await session({ urls: { serpapi: site.base }, env: { SERPAPI_API_KEY: "k-1234567" } });
    const result = await search({ query: "x", search_engine: "google", max_results: 7 });
    expect(result.structured).toMatchObject({ engine: "serpapi", total_results: 847_000 });
    expect(site.seen[0]).toContain("num=7");
  });
});

describe("which engine is asked", () => {
  it("one with a key before the local documents; the next one when it cannot answer", async () => {
    const broken = await startSite({ "/search": (_request, response) => void response.writeHead(402).end() });
    const works = await startSite({ "/res/v1/web/search": ANSWERS.brave?.page ?? "" });
    const { search } = await session({
      urls: { brave: works.base },
      env: { SEARXNG_URL: broken.base, BRAVE_API_KEY: "k-1234567" },
    });
    const result = await search({ query: "x" });
    expect(result.structured).toMatchObject({
      engine: "brave",
      skipped: [{ engine: "searxng", why: expect.stringContaining("credit") }],
    });
  });

  it("without any key, the documents of the folder, with a word about it", async () => {
    const { search, cwd } = await session({});
    mkdirSync(join(cwd, "notes"));
    writeFileSync(join(cwd, "notes", "yeast.md"), "# Yeast\n\nKeeps for a week in the fridge.");
    writeFileSync(join(cwd, "other.md"), "# Other\n\nNothing of the kind.");
    expect((await search({ query: "how long does yeast keep" })).structured).toMatchObject({
      engine: "local",
      results: [
        { title: "Yeast", url: `file://${cwd}/notes/yeast.md`, snippet: expect.stringContaining("fridge") },
      ],
      note: expect.stringContaining("BRAVE_API_KEY"),
    });
    writeFileSync(join(cwd, "new.md"), "# Dry yeast\n\nyeast yeast keeps for years");
    expect((await search({ query: "how long does yeast keep" })).structured).toMatchObject({
      results: [{ title: "Dry yeast" }, { title: "Yeast" }],
    });
  });

  it("one that is named and not set up says what is missing", async () => {
    const { search } = await session({});
    expect((await search({ query: "x", search_engine: "tavily" })).error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("TAVILY_API_KEY"),
    });
    expect((await search({ query: "x", search_engine: "altavista" })).error?.hint).toContain("searxng");
  });
});

it("a question that is on its way is not asked twice, and its answer is kept", async () => {
  const site = await startSite({ "/search": ANSWERS.searxng?.page ?? "" });
  const { search } = await session({ env: { SEARXNG_URL: site.base } });
  await Promise.all([search({ query: "same" }), search({ query: "same" }), search({ query: "same" })]);
  expect((await search({ query: "same" })).structured).toMatchObject({ cached: true });
  expect(site.seen).toHaveLength(1);
  await search({ query: "another" });
  expect(site.seen).toHaveLength(2);
});

it("what engines say reaches a model as words of others", async () => {
  const site = await startSite({ "/search": ANSWERS.searxng?.page ?? "" });
  const { search } = await session({ env: { SEARXNG_URL: site.base } });
  const [part] = (await search({ query: "x" })).content;
  expect(part).toMatchObject({
    text: expect.stringMatching(/^<untrusted_tool_result source="web_search:searxng">/),
  });
});
