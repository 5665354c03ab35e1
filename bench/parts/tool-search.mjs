// Finding a tool among ten thousand, by words and by words with the table of word vectors: how long reading the tools
// takes, in which slices, and how long a request takes.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { summary } from "../statistics.mjs";
import { makeCatalogue, makeRequests } from "../tool-search/catalogue.mjs";

const REQUESTS = 500;

export async function measureToolSearch({ dist, effort }) {
  const { createLexicalIndex } = await import(pathToFileURL(join(dist, "search", "lexical.js")).href);
  const size = Math.max(...effort.sizes);
  const tools = makeCatalogue({ size, seed: 20_261_115 });
  const { HybridFinder } = await import(pathToFileURL(join(dist, "search", "finder.js")).href);
  const words = measureWords({ createLexicalIndex, tools, effort });
  const table = await measureTable({ createLexicalIndex, HybridFinder, tools, effort });
  return { tools: size, milliseconds: { ...words, ...table.milliseconds }, megabytes: table.megabytes };
}

/** The first finder of a process reads the table; that it does so quickly is its own figure. */
async function measureTable({ createLexicalIndex, HybridFinder, tools, effort }) {
  const requests = makeRequests({ count: REQUESTS, seed: 7 });
  const lexical = createLexicalIndex(tools);
  const few = tools.slice(0, 500);
  const fewWords = createLexicalIndex(few);
  globalThis.gc?.();
  const before = memory();
  const started = performance.now();
  await new HybridFinder({ tools: few, lexical: fewWords }).search(requests[0], { limit: 5 });
  const first = performance.now() - started;
  const builds = [];
  const slices = [];
  const queries = [];
  let megabytes = 0;
  for (let round = 0; round < effort.rounds; round += 1) {
    const began = performance.now();
    const watch = watchSlices();
    const finder = new HybridFinder({ tools, lexical });
    await finder.prepared;
    builds.push(performance.now() - began);
    slices.push(watch.stop());
    for (const request of requests) {
      const asked = performance.now();
      await finder.search(request, { limit: 5 });
      if (round > 0) queries.push(performance.now() - asked);
    }
    if (round > 0) continue;
    globalThis.gc?.();
    megabytes = memory() - before;
  }
  return {
    milliseconds: {
      [`table-query-${tools.length}`]: summary(queries),
      [`table-build-${tools.length}`]: summary(builds),
      [`table-slice-${tools.length}`]: summary(slices),
      "table-first-search": { median: first, min: first },
    },
    megabytes,
  };
}

/** The longest time for which the event loop had no turn. */
function watchSlices() {
  let longest = 0;
  let last = performance.now();
  let stopped = false;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!stopped) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      stopped = true;
      return longest;
    },
  };
}

/** What is held, buffers included. */
function memory() {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
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
