// Finding a tool among ten thousand: how long the index takes to make, and how long a request takes.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { summary } from "../statistics.mjs";
import { makeCatalogue, makeRequests } from "../tool-search/catalogue.mjs";

const REQUESTS = 500;

export async function measureToolSearch({ dist, effort }) {
  const { createLexicalIndex } = await import(pathToFileURL(join(dist, "search", "lexical.js")).href);
  const size = Math.max(...effort.sizes);
  const tools = makeCatalogue({ size, seed: 20_261_115 });
  return { tools: size, milliseconds: measureWords({ createLexicalIndex, tools, effort }) };
}

/** Warm figures: a process that makes its first index is still compiling. */
function measureWords({ createLexicalIndex, tools, effort }) {
  const requests = makeRequests({ count: REQUESTS, seed: 7 });
  createLexicalIndex(tools);
  const builds = [];
  const queries = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    const started = performance.now();
    const index = createLexicalIndex(tools);
    builds.push(performance.now() - started);
    for (const request of requests) {
      const asked = performance.now();
      index.search(request, { limit: 5 });
      // The first round warms up.
      if (round > 0) queries.push(performance.now() - asked);
    }
  }
  return {
    [`lexical-query-${tools.length}`]: summary(queries),
    [`lexical-build-${tools.length}`]: summary(builds),
  };
}
