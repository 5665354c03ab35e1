// Where the milliseconds of a command's start go: node bench/cold-profile.mjs [--runs 15] [--dist DIR] [COMMAND …]
// The quickest of several runs under Node's own profiler, which slows everything by about a fifth: read the shares.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cleanEnvironment } from "./coordinate.mjs";

/** The first row that fits a sample's stack, innermost frame first, has it. */
const ROWS = [
  ["garbage collection", ({ functionName }) => functionName === "(garbage collector)"],
  ["waiting, and the engine's own work", ({ functionName }) => /^\((?:idle|program)\)$/.test(functionName)],
  ["SQLite: finding, loading and opening it", ({ url }) => /@photostructure|node-gyp-build/.test(url)],
  ["SQLite: finding, loading and opening it", ({ functionName }) => functionName === "loadSqlite"],
  [
    "parts of Node: streams, crypto, timers …",
    ({ functionName }) => functionName === "compileForInternalLoader",
  ],
  [
    "reading files and their compiled code",
    ({ functionName, url }) => functionName === "Script" && url === "node:vm",
  ],
  ["reading files and their compiled code", ({ url }) => url.includes("/cli/main.js")],
  ["top level of the files", ({ functionName, url }) => functionName === "" && isOurs(url)],
  ["the command itself", ({ url }) => isOurs(url)],
];
const REST = "Node itself";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "15" }, dist: { type: "string" } },
});
const root = fileURLToPath(new URL("../", import.meta.url));
const main = join(resolve(values.dist ?? join(root, "dist")), "cli", "main.js");
const commands =
  positionals.length > 0
    ? [positionals]
    : [
        ["tools", "list"],
        ["call", "sleep", "seconds=0"],
      ];
const folder = mkdtempSync(join(tmpdir(), "hermes-profile-"));
try {
  const tables = commands.map((command) => profile(command));
  const names = [...new Set([REST, ...ROWS.map(([name]) => name)])];
  const head = ["", ...commands.map((command) => `hermes ${command.join(" ")}, ms`)];
  const rows = names.map((name) => [name, ...tables.map((table) => (table.get(name) ?? 0).toFixed(1))]);
  const sums = tables.map((table) => [...table.values()].reduce((sum, ms) => sum + ms, 0).toFixed(1));
  for (const row of [head, head.map(() => "---"), ...rows, ["together", ...sums]])
    console.log(`| ${row.join(" | ")} |`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function profile(command) {
  const profiles = join(folder, command.join("-").replace(/\W+/g, "-"));
  const env = cleanEnvironment({ HERMES_HOME: join(folder, "home") });
  const flags = ["--cpu-prof", "--cpu-prof-interval", "100", "--cpu-prof-dir", profiles];
  for (let run = 0; run <= Number(values.runs); run += 1) {
    // The first run only fills the caches.
    const { status, stderr } = spawnSync(process.execPath, [...(run === 0 ? [] : flags), main, ...command], {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (status !== 0) throw new Error(`hermes ${command.join(" ")} ended with ${status}: ${stderr}`);
  }
  const all = readdirSync(profiles).map((name) =>
    shares(JSON.parse(readFileSync(join(profiles, name), "utf8"))),
  );
  const total = (table) => [...table.values()].reduce((sum, ms) => sum + ms, 0);
  return all.sort((a, b) => total(a) - total(b))[0];
}

function shares({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node;
  const table = new Map();
  for (const [index, id] of samples.entries()) {
    const name = rowOf(byId.get(id));
    table.set(name, (table.get(name) ?? 0) + timeDeltas[index] / 1000);
  }
  return table;
}

function rowOf(node) {
  for (let frame = node; frame !== undefined; frame = frame.parent)
    for (const [name, fits] of ROWS) if (fits(frame.callFrame)) return name;
  return REST;
}

function isOurs(url) {
  return url.includes("/cli/main.js") || url.includes("/cli/chunks/");
}
