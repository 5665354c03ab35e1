// npm run bench: measures this build beside its peers and writes down what came out.
//   npm run bench                     everything; rewrites bench/results.json, docs/performance.md and its picture
//   npm run bench -- --quick          a smoke test: the numbers mean nothing and no file is touched
//   npm run bench -- --only calls,cold   some parts (bench/contestants.mjs lists them); no file is touched
//   --without-peers                   only what needs no installed peers
//   --dist DIR                        another build than dist/
//   --out FILE                        also write the results as JSON to FILE
// A missed figure is shown, not an error: the exit code is 0 when everything could be measured.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chart } from "../bench/chart.mjs";
import { EFFORT, PARTS, PEERS } from "../bench/contestants.mjs";
import { figuresOf } from "../bench/figures.mjs";
import { betweenMarkers, markdown, terminalTable } from "../bench/report.mjs";
import { ensureReady, root, runToEnd } from "./ensure.mjs";

const BENCH = join(root, "bench");
const DOCUMENT = join(root, "docs", "performance.md");

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function main() {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      "without-peers": { type: "boolean", default: false },
      dist: { type: "string" },
      out: { type: "string" },
    },
  });
  const wanted = chosenParts(values.only);
  if (values.dist === undefined) await ensureReady({ types: false });
  const withPeers = !values["without-peers"];
  if (withPeers) await installPeers();
  const context = {
    dist: resolve(values.dist ?? join(root, "dist")),
    effort: values.quick ? EFFORT.quick : EFFORT.full,
    peers: withPeers ? Object.keys(PEERS) : [],
    withPeers,
  };
  const parts = {};
  for (const part of wanted) {
    const started = performance.now();
    parts[part] = await measure(part, context);
    console.error(`· ${part}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  const results = {
    node: process.version,
    date: new Date().toISOString(),
    peers: withPeers ? peerVersions() : {},
    figures: figuresOf(parts),
    parts,
  };
  if (values.out !== undefined) writeJson(values.out, results);
  const whole = wanted.length === PARTS.length && !values.quick && withPeers && values.dist === undefined;
  if (whole) publish(results);
  report(results, { quick: values.quick, whole });
}

function chosenParts(only) {
  if (only === undefined) return PARTS;
  const names = only.split(",");
  const unknown = names.filter((name) => !PARTS.includes(name));
  if (unknown.length === 0) return PARTS.filter((part) => names.includes(part));
  throw new Error(`--only does not know ${unknown.join(", ")}; there are ${PARTS.join(", ")}.`);
}

async function measure(part, context) {
  const module = await import(new URL(`../bench/parts/${part}.mjs`, import.meta.url).href);
  const name = part.replace(/(?:^|-)(.)/g, (_match, letter) => letter.toUpperCase());
  return module[`measure${name}`](context);
}

/** Without install scripts: nothing that is measured needs one. */
async function installPeers() {
  const missing = Object.entries(pinnedPeers()).filter(
    ([name, version]) => installedVersion(name) !== version,
  );
  if (missing.length === 0) return;
  console.error("· installing the peers into bench/node_modules (about 650 MB) …");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const [program, ...before] = npm?.endsWith(".js") ? [process.execPath, npm] : ["npm"];
  const status = await runToEnd(program, [...before, ...args], { cwd: BENCH });
  if (status !== 0) {
    throw new Error(
      `npm ci in bench/ ended with exit code ${status}; its messages are above. Without the peers: npm run bench -- --without-peers`,
    );
  }
}

function pinnedPeers() {
  return readBenchManifest().dependencies;
}

function readBenchManifest() {
  return JSON.parse(readFileSync(join(BENCH, "package.json"), "utf8"));
}

function installedVersion(name) {
  const manifest = join(BENCH, "node_modules", name, "package.json");
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : undefined;
}

function peerVersions() {
  const { dependencies, optionalDependencies } = readBenchManifest();
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  return Object.fromEntries(names.map((name) => [name, installedVersion(name) ?? null]));
}

function publish(results) {
  writeJson(join(BENCH, "results.json"), results);
  writeFileSync(join(root, "docs", "performance.svg"), chart(results));
  writeFileSync(DOCUMENT, betweenMarkers(readFileSync(DOCUMENT, "utf8"), markdown(results)));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function report({ figures }, { quick, whole }) {
  console.log(terminalTable(figures));
  const judged = figures.filter(({ pass }) => pass !== null);
  const reached = judged.filter(({ pass }) => pass).length;
  console.log(`${reached} of ${judged.length} measured figures reached`);
  if (quick) console.log("(--quick: too short to mean anything)");
  if (whole) console.log("written: bench/results.json, docs/performance.md, docs/performance.svg");
}
