// Writes src/registry/builtin-manifest.gen.ts: what every tool of src/tools says about itself, as data.
//   node scripts/manifest.mjs           rewrite it if it changed
//   node scripts/manifest.mjs --check   exit 1 if it is out of date
//   node scripts/manifest.mjs --print   print what it should be
// `--root DIR` works on another copy of the package.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HEADER = `// Written by \`npm run build\` from the files in src/tools. Change those, not this.
import type { BuiltinEntry } from "./manifest-types.js";

`;

const COPIED_FIELDS = [
  "name",
  "aliases",
  "toolset",
  "description",
  "emoji",
  "tags",
  "parameters",
  "output",
  "permissions",
  "needs",
  "requiresEnv",
  "host",
  "interactive",
  "idempotent",
  "tolerant",
  "maxResultSizeChars",
];

/** The text the manifest of the package in `root` should have. */
export async function manifestText(root) {
  const tools = await loadTools(root);
  tools.sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  refuseSharedNames(tools);
  const entries = tools.map(({ file, tool }) => `  ${entryText(file, tool)},\n`);
  const list = entries.length === 0 ? "[]" : `[\n${entries.join("")}]`;
  return `${HEADER}export const builtinManifest: readonly BuiltinEntry[] = ${list};\n`;
}

/** Returns whether the file had to change. */
export async function writeManifest(root) {
  const path = manifestPath(root);
  const text = await manifestText(root);
  if ((await readIfThere(path)) === text) return false;
  const partial = `${path}.${process.pid}.tmp`;
  await writeFile(partial, text);
  await rename(partial, path);
  return true;
}

export function manifestPath(root) {
  return join(root, "src", "registry", "builtin-manifest.gen.ts");
}

async function loadTools(root) {
  const folder = join(root, "src", "tools");
  const files = existsSync(folder) ? await toolFiles(folder) : [];
  if (files.length === 0) return [];
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file, index) => [`module-${index}`, file])),
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[A-Za-z]:/.test(id),
    plugins: [withoutManifest],
    logLevel: "warn",
  });
  // Below node_modules, so that the packages the tools import are found.
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(join(cache, "manifest-"));
  try {
    const { output } = await bundle.write({ dir: staging, format: "esm", entryFileNames: "[name].mjs" });
    const tools = [];
    for (const chunk of output) {
      if (chunk.type !== "chunk" || !chunk.isEntry || !chunk.exports.includes("default")) continue;
      const file = relative(root, chunk.facadeModuleId).split(sep).join("/");
      const module = await import(pathToFileURL(join(staging, chunk.fileName)).href);
      tools.push({ file, tool: checkedTool(file, module.default) });
    }
    return tools;
  } finally {
    await bundle.close();
    await rm(staging, { recursive: true, force: true });
  }
}

/** A tool may import code that imports the manifest, whose old text may name files that are gone. */
const withoutManifest = {
  name: "without-manifest",
  load(id) {
    return id.endsWith("builtin-manifest.gen.ts") ? "export const builtinManifest = [];" : null;
  },
};

async function toolFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /(?<!\.d|\.test|\.gen)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function checkedTool(file, tool) {
  const problem =
    typeof tool !== "object" || tool === null
      ? "its default export is not a tool"
      : !/^[a-z][a-z0-9_]{0,63}$/.test(String(tool.name))
        ? `the name ${JSON.stringify(tool.name)} does not match ^[a-z][a-z0-9_]{0,63}$`
        : typeof tool.handler !== "function"
          ? "it has no handler"
          : typeof tool.parameters !== "object" || tool.parameters === null
            ? "it has no parameters"
            : undefined;
  if (problem === undefined) return tool;
  throw new Error(
    `${file}: ${problem}. A file in src/tools either exports a tool by default (export default defineTool({...})) or has no default export.`,
  );
}

function refuseSharedNames(tools) {
  const owners = new Map();
  for (const { file, tool } of tools) {
    for (const name of [tool.name, ...(tool.aliases ?? [])]) {
      const owner = owners.get(name);
      if (owner !== undefined) {
        throw new Error(
          `${file} and ${owner} both claim the tool name "${name}"; rename one or drop the alias.`,
        );
      }
      owners.set(name, file);
    }
  }
}

function entryText(file, tool) {
  const entry = {};
  for (const field of COPIED_FIELDS) if (tool[field] !== undefined) entry[field] = tool[field];
  if (typeof tool.timeoutMs === "number") entry.timeoutMs = tool.timeoutMs;
  entry.hasCheck = tool.checkFn !== undefined;
  entry.hasDynamicSchema = tool.dynamicSchemaOverrides !== undefined;
  entry.hasEffects = tool.effects !== undefined;
  if (tool.aliasArguments !== undefined) entry.aliasArguments = Object.keys(tool.aliasArguments).sort();
  const module = `../${file.replace(/^src\//, "").replace(/\.ts$/, ".js")}`;
  const fields = Object.entries(entry).map(
    ([name, value]) => `    ${name}: ${literal(value, { indent: "    ", at: `${file}: ${name}` })},\n`,
  );
  return `{\n${fields.join("")}    load: () => import(${JSON.stringify(module)}),\n  }`;
}

/** TypeScript text of a JSON-like value; unlike JSON it has a word for Infinity. */
function literal(value, { indent, at }) {
  if (value === Number.POSITIVE_INFINITY) return "Number.POSITIVE_INFINITY";
  if (value === null || ["string", "boolean"].includes(typeof value)) return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => literal(item, { indent: inner, at: `${at}[${index}]` }));
    const line = `[${items.join(", ")}]`;
    return line.length <= 90 && !line.includes("\n")
      ? line
      : `[\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}]`;
  }
  if (typeof value === "object") {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => {
        // A plain "__proto__" key would set the prototype instead of a field.
        const name = key === "__proto__" ? '["__proto__"]' : JSON.stringify(key);
        return `${name}: ${literal(field, { indent: inner, at: `${at}.${key}` })}`;
      });
    const line = `{ ${fields.join(", ")} }`;
    if (fields.length === 0) return "{}";
    return line.length <= 90 && !line.includes("\n")
      ? line
      : `{\n${fields.map((field) => `${inner}${field},\n`).join("")}${indent}}`;
  }
  throw new Error(`${at} is ${typeof value === "number" ? value : `a ${typeof value}`}, which is not data.`);
}

async function readIfThere(path) {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** `--root DIR`: the package to work on, this one unless told. */
export function rootArgument() {
  const at = process.argv.indexOf("--root");
  return at < 0 ? undefined : process.argv[at + 1];
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = rootArgument() ?? dirname(dirname(fileURLToPath(import.meta.url)));
  if (process.argv.includes("--print")) {
    process.stdout.write(await manifestText(root));
  } else if (process.argv.includes("--check")) {
    if ((await readIfThere(manifestPath(root))) !== (await manifestText(root))) {
      console.error("src/registry/builtin-manifest.gen.ts is out of date; run: npm run build");
      process.exitCode = 1;
    }
  } else {
    console.log((await writeManifest(root)) ? "manifest written" : "manifest unchanged");
  }
}
