// O5: a result of 64 MiB and a log of a million lines come back cut and marked; a tool is found among ten thousand.
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { measureToolSearch } from "../parts/tool-search.mjs";
import { post } from "../serve.mjs";
import { withMeasuredServer } from "./measured-server.mjs";

const LINES = 1_000_000;
const ROUNDS = 5;
/** More than any result may show, less than a small part of what was printed. */
const MOST_CHARS = 200_000;
const TOOLS = 10_000;

export async function measureLarge({ dist, rounds = ROUNDS, lines = LINES, tools = TOOLS }) {
  const measured = await withMeasuredServer(
    { dist, config: "approvals:\n  mode: off\n" },
    async ({ server, home }) => {
      const log = join(home, "work", "large.log");
      await pipeline(logLines(lines), createWriteStream(log));
      const results = [];
      for (let round = 0; round < rounds; round += 1) {
        for (const call of [
          { name: "terminal", arguments: { command: "head -c 67108864 /dev/zero | tr '\\0' x" } },
          { name: "read_file", arguments: { path: log } },
          { name: "terminal", arguments: { command: `cat ${log}` } },
        ]) {
          results.push(JSON.stringify(await post({ server, session: "large", call })));
        }
      }
      return { results };
    },
  );
  const { milliseconds } = await measureToolSearch({ dist, effort: { sizes: [tools], rounds: 3 } });
  const { results, samples } = measured;
  return {
    samples,
    note: `the longest of ${results.length} results is ${Math.max(...results.map(({ length }) => length))} characters`,
    figures: [
      {
        what: "large results that are not cut, or not marked",
        value: results.filter((text) => text.length > MOST_CHARS || !isMarked(text)).length,
        limit: 0,
        unit: "",
      },
      {
        what: "resident memory, most",
        value: Math.max(...samples.map((sample) => sample.rss)) / 2 ** 20,
        limit: 512,
        unit: "MB",
      },
      {
        what: `search among ${tools} tools, by words and vectors`,
        value: milliseconds[`table-query-${tools}`].median,
        limit: 50,
        unit: "ms",
      },
    ],
  };
}

function isMarked(text) {
  return /truncated|omitted|cut|offset/i.test(text);
}

function* logLines(count) {
  for (let at = 0; at < count; at += 1_000) {
    yield Array.from({ length: 1_000 }, (_, index) => `line ${at + index} of a long log\n`).join("");
  }
}
