// One certain file among 100,000, by what somebody would type: how long it takes, and whether it is in the top ten.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makeCorpus } from "../fuzzy/corpus.mjs";
import { openPeers } from "../fuzzy/peers.mjs";
import { CLASSES, makeQueries } from "../fuzzy/queries.mjs";
import { median, significant } from "../statistics.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
/** The ranking was tuned with other numbers. */
const SEED = 20_261_115;

export async function measureFuzzy({ dist, effort }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const full = effort.outputBytes >= 1e8;
  try {
    const paths = makeCorpus(ROOT).filter((_path, index) => full || index % 50 === 0);
    const tree = join(folder, "tree");
    writeTree(tree, paths);
    const listFile = join(folder, "paths");
    writeFileSync(listFile, `${paths.join("\n")}\n`);
    const ours = await openProduct({ dist, tree, home: join(folder, "home") });
    const { peers, leftOut } = openPeers({ paths, listFile });
    const queries = makeQueries({ paths, seed: SEED, count: full ? effort.rounds * 10 : effort.rounds });
    try {
      const measured = await inTurn({ hermes: ours.find, ...peers }, queries);
      return { paths: paths.length, ...measured, leftOut };
    } finally {
      await ours.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeTree(tree, paths) {
  for (const folder of new Set(paths.map((path) => dirname(path)))) {
    mkdirSync(join(tree, folder), { recursive: true });
  }
  for (const path of paths) writeFileSync(join(tree, path), "");
}

/** Through a session, the whole path of a call. */
async function openProduct({ dist, tree, home }) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  mkdirSync(home);
  const runtime = await createRuntime({
    home,
    cwd: tree,
    systemDir: join(home, "system"),
    userTools: false,
    journal: false,
  });
  const session = await runtime.openSession({});
  const find = async (query) => {
    const args = { pattern: query, target: "files", fuzzy: true, limit: 10 };
    const result = await session.call({ name: "search_files", arguments: args });
    if (!result.ok)
      throw new Error(`search_files refused ${JSON.stringify(query)}: ${result.error?.message}`);
    return result.structured.files;
  };
  return { find, close: () => runtime.close() };
}

/** Milliseconds (median) and hits in the top ten (per cent of each class). */
async function inTurn(finders, queries) {
  const times = Object.fromEntries(Object.keys(finders).map((name) => [name, []]));
  const topTen = Object.fromEntries(Object.keys(finders).map((name) => [name, {}]));
  for (const find of Object.values(finders)) for (const kind of CLASSES) await find(queries[kind][0].query);
  for (const kind of CLASSES) {
    for (const [name, find] of Object.entries(finders)) {
      let hits = 0;
      for (const { query, target } of queries[kind]) {
        const started = performance.now();
        const found = await find(query);
        times[name].push(performance.now() - started);
        if (found.slice(0, 10).includes(target)) hits += 1;
      }
      topTen[name][kind] = significant((100 * hits) / queries[kind].length);
    }
  }
  const milliseconds = Object.fromEntries(
    Object.entries(times).map(([name, values]) => [name, significant(median(values))]),
  );
  return { milliseconds, topTen, behindBest: behindBest(topTen) };
}

/** The best peer's hits over ours, for each class: 1 or less when nobody finds more. */
function behindBest({ hermes, ...peers }) {
  return Object.fromEntries(
    CLASSES.map((kind) => {
      const best = Math.max(...Object.values(peers).map((rates) => rates[kind]));
      return [kind, hermes[kind] === 0 ? 0 : significant(best / hermes[kind])];
    }),
  );
}
