// Builds the package: the manifest of built-in tools, the bundle in dist/, the dashboard in dist/web, the type
// declarations.
//   node scripts/build.mjs [--force] [--no-types] [--root DIR]
// Does nothing when nothing changed since the last build.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWeb, webHash } from "./build-web.mjs";
import { writeEmbedded } from "./embed.mjs";
import { rootArgument, writeManifest } from "./manifest.mjs";
import { noticesOf, THIRD_PARTY } from "./third-party.mjs";

/** What every command loads, by the beginning of its path; `!` leaves out what only some need. */
const NEEDED_BY_ALL = [
  "node_modules/commander/",
  "node_modules/get-east-asian-width/",
  "node_modules/picocolors/",
  "src/base/",
  // It loads Node's cryptography.
  "!src/base/hash.",
  "src/cli/errors.",
  "src/cli/input.",
  "src/cli/output.",
  "src/config/",
  "src/env/descriptor.",
  "src/env/environments.",
  "src/env/find-program.",
  "src/env/local/index.",
  "src/observe/",
  "src/policy/literal-search.",
  "src/policy/profiles/permission-files.",
  "src/policy/secret",
  "src/search/deferrable.",
  "src/registry/",
  "!src/registry/discover",
  "!src/registry/scan-module",
  "!src/registry/user-module-errors",
  "!src/registry/user-module-hooks",
  "!src/registry/user-module-loader",
  "!src/registry/user-module-typescript",
  "src/tool/",
  "!src/tool/coerce",
  "!src/tool/convert-value",
  "!src/tool/decode",
  "!src/tool/parse-arguments",
  "!src/tool/repair-text",
  "!src/tool/typescript-declarations",
  "!src/tool/validate",
];

/** What a call loads besides. */
const NEEDED_BY_CALLS = [
  "node_modules/jsonrepair/",
  "node_modules/typebox/",
  "src/call/",
  "!src/call/hooks.",
  "!src/call/journal.",
  "!src/call/stats/",
  "!src/call/undo/",
  "src/cli/session/",
  "src/env/local/atomic-write.",
  "src/env/local/file-",
  "src/env/local/held-folder.",
  "src/env/local/local",
  "src/env/local/unfinished-writes.",
  "src/env/task.",
  "src/net/hosts",
  "src/net/rules",
  "src/places/",
  "src/policy/engine",
  "src/policy/grants/",
  "src/policy/paths/",
  "src/policy/profiles/",
  "!src/policy/profiles/simulate",
  "src/policy/real-path",
  "src/policy/strictest",
  "src/runtime/file-changes.",
  "src/runtime/jobs.",
  "src/runtime/session",
  "src/search/assemble.",
  "src/search/bridge-tools.",
  "src/search/catalogue.",
  "src/search/settings.",
  "src/shell/analysis.",
  "src/shell/read/quote.",
  "src/store/",
  "src/tool/",
];

/** What is built, by its place in dist/. */
const BUNDLES = [
  {
    entries: {
      index: "src/index.ts",
      testing: "src/testing/index.ts",
      // Node loads it by its path, in a thread of its own on older versions.
      "registry/user-module-hooks": "src/registry/user-module-hooks.ts",
      // A thread is started by the path of its program.
      "tools/quickjs-worker": "src/tools/code/quickjs/worker.ts",
      // Measured by itself in the bench.
      "search/lexical": "src/search/lexical/index.ts",
      "search/finder": "src/search/finder.ts",
      "agent/sessions": "src/agent/sessions/conversation-store.ts",
      // A process is started by the path of its program.
      "search/model-process": "src/search/semantic/model-process.ts",
      "speech/model-process": "src/tools/multimedia/local-model/process.ts",
    },
    format: "esm",
    chunks: "chunks",
  },
  {
    // What a person starts: a version, or the loader of the files below.
    entries: { "cli/main": "src/cli/main.ts" },
    format: "cjs",
    chunks: "cli/chunks",
  },
  {
    // A command's start counts in milliseconds, and CommonJS starts a fifth quicker.
    entries: { "cli/chunks/start": "src/cli/start.ts" },
    format: "cjs",
    chunks: "cli/chunks",
    // What commands need at once comes in few files: opening fifty small ones takes longer than reading them.
    together: [
      { name: "start", test: partOf(NEEDED_BY_ALL), minShareCount: 2 },
      { name: "call", test: partOf(NEEDED_BY_CALLS), minShareCount: 2 },
    ],
  },
];

/** The word vectors that tools are found by; read as a file. */
const TABLE = "src/search/table/tool-vectors-128.bin";

/** Native code, files beside the code, or too big to copy: imported from node_modules at run time. */
const EXTERNAL_PACKAGES = [
  "@astral-sh/ruff-wasm-nodejs",
  "defuddle",
  "feedsmith",
  "hucre",
  "ical.js",
  "linkedom",
  "minisearch",
  "nodemailer",
  "pg",
  "tsdav",
  "@jitl/quickjs-wasmfile-release-sync",
  "@lydell/node-pty",
  "@vscode/ripgrep",
  "@photostructure/sqlite",
  "modal",
  "playwright-core",
  "prettier",
  "systeminformation",
  "typescript6",
  "unpdf",
  "write-file-atomic",
];

const INPUT_FILES = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.types.json",
  "scripts/build.mjs",
  "scripts/build-web.mjs",
  "scripts/embed.mjs",
  "scripts/manifest.mjs",
  "scripts/third-party.mjs",
];

/**
 * Brings dist/ up to date. `types: false` leaves the declarations out, which running does not need.
 * Returns what happened; throws when the bundle cannot be made.
 */
export async function build({ root, force = false, types = true, say = () => {}, warn = () => {} }) {
  const stamp = await readStamp(root);
  const [before, web] = await Promise.all([inputsHash(root), webHash(root)]);
  const webFresh = !force && stamp?.web === web;
  if (!force && webFresh && stamp?.inputs === before && (!types || stamp.types))
    return { built: false, typesOk: true };
  const bundleFresh = !force && stamp?.inputs === before;
  if (!bundleFresh) {
    const started = performance.now();
    // The manifest comes from running the tools, which may hold embedded files.
    for (const module of await writeEmbedded(root)) say(`${module} written`);
    for (const file of await writeManifest(root)) say(`${file} written`);
    const chunks = await bundle(root, warn);
    say(`dist: ${chunks} files in ${seconds(started)}`);
  }
  if (!webFresh) {
    const started = performance.now();
    const files = await buildWeb(root);
    if (files > 0) say(`dist/web: ${files} files in ${seconds(started)}`);
  }
  const inputs = await inputsHash(root);
  let typesOk = true;
  if (types && !(bundleFresh && stamp.types)) {
    const started = performance.now();
    typesOk = await declarations(root);
    if (typesOk) say(`dist/types in ${seconds(started)}`);
  }
  await writeFile(stampPath(root), `${JSON.stringify({ inputs, web, types: types && typesOk })}\n`);
  return { built: true, typesOk };
}

async function bundle(root, warn) {
  const dist = join(root, "dist");
  const staging = join(dist, `.staging-${process.pid}`);
  try {
    const names = [];
    const modules = [];
    for (const part of BUNDLES) {
      const made = await bundlePart({ root, part, staging, warn });
      names.push(...made.names);
      modules.push(...made.modules);
    }
    if (names.includes("cli/main.js")) {
      await makeExecutable(join(staging, "cli/main.js"));
      await writeFile(join(staging, "cli/package.json"), '{"type":"commonjs"}\n');
      names.push("cli/package.json");
    }
    // A copy of the package for a test holds some rooms only.
    if (existsSync(join(root, TABLE))) {
      await mkdir(join(dist, "search"), { recursive: true });
      await copyFile(join(root, TABLE), join(dist, "search", basename(TABLE)));
    }
    await writeFile(join(staging, THIRD_PARTY), await noticesOf(modules));
    await publish({ staging, dist, names: [...names, THIRD_PARTY] });
    // What the engine made of chunks that are gone.
    await rm(join(dist, "cli/.cache"), { recursive: true, force: true });
    return names.length;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Whether a module is on a list of path beginnings; an exception on it wins. */
function partOf(list) {
  const begins = list.filter((one) => !one.startsWith("!"));
  const exceptions = list.filter((one) => one.startsWith("!")).map((one) => one.slice(1));
  return (id) => {
    const path = id
      .split(sep)
      .join("/")
      .replace(/^.*?\/(?=src\/|node_modules\/)/, "");
    return begins.some((one) => path.startsWith(one)) && !exceptions.some((one) => path.startsWith(one));
  };
}

/** What a short command need not load: commander could start other programs, and nobody asks it to. */
const isUnusedByCommander = (id, importer) =>
  id === "node:child_process" && /[\\/]commander[\\/]/.test(importer ?? "");
const withoutChildProcess = {
  name: "without-child-process",
  resolveId: (id, importer) => (isUnusedByCommander(id, importer) ? "\0nothing" : null),
  load: (id) => (id === "\0nothing" ? "module.exports = {};" : null),
};

/** Chunks of the command line are run by its loader, and what it runs has no `import()` of its own. */
const importsByLauncher = {
  name: "imports-by-launcher",
  renderChunk(code) {
    if (!code.includes("import(")) return null;
    const found = [];
    const visit = (node) => {
      if (typeof node !== "object" || node === null) return;
      if (node.type === "ImportExpression") found.push(node.start);
      for (const inner of Object.values(node)) visit(inner);
    };
    visit(this.parse(code));
    return found
      .sort((a, b) => b - a)
      .reduce((text, start) => `${text.slice(0, start)}__${text.slice(start)}`, code);
  },
};

async function bundlePart({ root, part, staging, warn }) {
  const { rolldown } = await import("rolldown");
  const input = Object.fromEntries(
    Object.entries(part.entries)
      .map(([name, file]) => [name, join(root, file)])
      .filter(([, file]) => existsSync(file)),
  );
  if (Object.keys(input).length === 0) return { names: [], modules: [] };
  const made = await rolldown({
    input,
    platform: "node",
    // The command line exports nothing, so its modules may be put together freely.
    ...(part.together && { preserveEntrySignatures: false }),
    external: (id, importer) =>
      (id.startsWith("node:") && !isUnusedByCommander(id, importer)) ||
      EXTERNAL_PACKAGES.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [withoutChildProcess, ...(part.together ? [importsByLauncher] : [])],
    // The clock alone: `performance` brings all of node:perf_hooks along.
    ...(part.together && { transform: { define: { "performance.now": "__now" } } }),
    onLog: (_level, { message }) => warn(message),
  });
  try {
    const { output } = await made.write({
      dir: staging,
      format: part.format,
      entryFileNames: "[name].js",
      ...(part.together && {
        codeSplitting: { includeDependenciesRecursively: false, groups: part.together },
      }),
      chunkFileNames: `${part.chunks}/[name]-[hash].js`,
      // Functions and classes keep their names: stacks and error types are read by people and by code.
      minify: {
        compress: { keepNames: { function: true, class: true } },
        mangle: { keepNames: { function: true, class: true } },
        codegen: { removeWhitespace: true },
      },
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    return {
      names: output.map(({ fileName }) => fileName),
      modules: output.flatMap(({ moduleIds = [] }) => moduleIds),
    };
  } finally {
    await made.close();
  }
}

/** Chunks first, entries last, leftovers after: whoever starts meanwhile finds everything its entry names. */
async function publish({ staging, dist, names }) {
  const entries = new Set(BUNDLES.flatMap((part) => Object.keys(part.entries)).map((name) => `${name}.js`));
  for (const name of [...names].sort((a, b) => Number(entries.has(a)) - Number(entries.has(b)))) {
    await mkdir(dirname(join(dist, name)), { recursive: true });
    await rename(join(staging, name), join(dist, name));
  }
  const current = new Set(names);
  for (const entry of await readdir(dist, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const name = relative(dist, path).split(sep).join("/");
    const foreign = /^(?:types|web|\.staging-[^/]*)\//.test(name) || !name.endsWith(".js");
    if (entry.isFile() && !foreign && !current.has(name)) await rm(path, { force: true });
  }
}

async function makeExecutable(file) {
  const text = await readFile(file, "utf8");
  if (!text.startsWith("#!")) await writeFile(file, `#!/usr/bin/env node\n${text}`);
  await chmod(file, 0o755);
}

async function declarations(root) {
  await rm(join(root, "dist", "types"), { recursive: true, force: true });
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.types.json"], {
    cwd: root,
    stdio: "inherit",
  });
  return status === 0;
}

async function inputsHash(root) {
  const hash = createHash("sha256");
  const entries = await readdir(join(root, "src"), { withFileTypes: true, recursive: true });
  const sources = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)));
  for (const file of [...sources.sort(), ...INPUT_FILES]) {
    const content = await readFile(join(root, file)).catch(() => "");
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

function stampPath(root) {
  return join(root, "dist", ".stamp");
}

async function readStamp(root) {
  try {
    const stamp = JSON.parse(await readFile(stampPath(root), "utf8"));
    return existsSync(join(root, "dist", "index.js")) ? stamp : undefined;
  } catch {
    return undefined;
  }
}

function seconds(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    const result = await build({
      root: rootArgument() ?? dirname(dirname(fileURLToPath(import.meta.url))),
      force: process.argv.includes("--force"),
      types: !process.argv.includes("--no-types"),
      say: (line) => console.log(line),
      warn: (line) => console.warn(line),
    });
    if (!result.built) console.log("dist is up to date");
    if (!result.typesOk) {
      console.error("The bundle is built, but the types do not compile: see the errors above.");
      process.exitCode = 1;
    }
  } catch (error) {
    console.error(`Build failed: ${error.message}`);
    process.exitCode = 1;
  }
}
