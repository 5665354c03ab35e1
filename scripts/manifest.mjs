// Writes what built-ins say about themselves, as data, so that listing them imports none of them:
// src/registry/builtin-manifest.gen.ts from the tools in src/tools and src/plugins/<name>;
// src/registry/bundled-plugins.gen.ts from the manifests src/plugins/<name>/plugin.yaml; src/env/environments.gen.ts
// and src/config/environment-settings.gen.ts from the descriptors src/env/<kind>/index.ts.
//   node scripts/manifest.mjs           rewrite what changed
//   node scripts/manifest.mjs --check   exit 1 if something is out of date
//   node scripts/manifest.mjs --print   print what the manifest of tools should be
// `--root DIR` works on another copy of the package.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HEADER = `// Written by \`npm run build\` from the files in src/tools. Change those, not this.
import type { BuiltinEntry } from "./manifest-types.js";

`;

const ENVIRONMENTS_HEADER = `// Written by \`npm run build\` from src/env/<kind>/index.ts. Change those, not this.
`;

const TOOLS_MODULE = "src/registry/builtin-manifest.gen.ts";

/** What is known of a tool before its code is loaded. */
const COPIED_FIELDS = (
  "name aliases toolset description emoji tags parameters output permissions " +
  "everyCallNeeds needs requiresEnv host interactive stays idempotent tolerant maxResultSizeChars"
).split(" ");

/** The modules that the package in `root` should have, with their texts. */
async function generatedModules(root) {
  const tools = await builtinTools(root);
  return [
    { file: TOOLS_MODULE, text: toolsText(tools) },
    ...(await pluginModules(root, tools)),
    ...(await environmentModules(root)),
  ];
}

async function builtinTools(root) {
  const files = [
    ...(await filesBelow(join(root, "src", "tools"))),
    ...(await filesBelow(join(root, "src", "plugins"))),
  ];
  const tools = (await defaultExports(root, files)).map(({ file, value }) => ({
    file,
    plugin: /^src\/plugins\/([^/]+)\//.exec(file)?.[1],
    tool: checkedTool(file, value),
  }));
  tools.sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  refuseSharedNames(tools);
  return tools;
}

function toolsText(tools) {
  const entries = tools.map((one) => `  ${entryText(one)},\n`);
  const list = entries.length === 0 ? "[]" : `[\n${entries.join("")}]`;
  return `${HEADER}export const builtinManifest: readonly BuiltinEntry[] = ${list};\n`;
}

/** The plugins that come with the package: what they say about themselves is held against what they bring. */
async function pluginModules(root, tools) {
  const folder = join(root, "src", "plugins");
  if (!existsSync(folder)) return [];
  const { parse } = await import("yaml");
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  const rows = [];
  for (const name of names) {
    const file = join(folder, name, "plugin.yaml");
    const written = parse(await readFile(file, "utf8"));
    const own = tools.filter((one) => one.plugin === name).map(({ tool }) => tool);
    const problem = pluginProblem(name, { written, own });
    if (problem !== undefined) throw new Error(`src/plugins/${name}/plugin.yaml: ${problem}.`);
    const { version, description } = written;
    rows.push({ name, version, description, tools: own.map((tool) => tool.name) });
  }
  const text = rows.map((row) => `  ${literal(row, { indent: "  ", at: row.name })},\n`).join("");
  return [
    {
      file: "src/registry/bundled-plugins.gen.ts",
      text: `// Written by \`npm run build\` from src/plugins/<name>/plugin.yaml. Change those, not this.
import type { BundledPlugin } from "./manifest-types.js";

export const bundledPlugins: readonly BundledPlugin[] = [
${text}];
`,
    },
  ];
}

function pluginProblem(name, { written, own }) {
  if (written?.name !== name) return `name is ${written?.name}, but the folder is called ${name}`;
  const brought = own.map((tool) => tool.name).sort();
  const promised = [...(written.provides_tools ?? [])].sort();
  if (brought.join() !== promised.join())
    return `provides_tools says ${promised.join(", ")}, the folder has ${brought.join(", ")}`;
  const asked = own.flatMap((tool) => tool.permissions).find((one) => !written.capabilities?.includes(one));
  return asked === undefined ? undefined : `a tool asks for ${asked}, which capabilities does not list`;
}

async function environmentModules(root) {
  const folders = existsSync(join(root, "src", "env"))
    ? await readdir(join(root, "src", "env"), { withFileTypes: true })
    : [];
  const files = folders
    .map((entry) => join(root, "src", "env", entry.name, "index.ts"))
    .filter((file) => existsSync(file));
  if (files.length === 0) return [];
  const found = (await defaultExports(root, files)).map(({ file, value }) => checkedEnvironment(file, value));
  // This machine first, then by name.
  const rank = ({ kind }) => `${kind === "local" ? 0 : 1}${kind}`;
  found.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const rows = found.map(({ kind, about, settings }) => {
    const keys = [...settings.own.map(({ path }) => path), ...settings.shared];
    const fields = Object.entries({ kind, about, settings: keys }).map(
      ([name, value]) => `    ${name}: ${literal(value, { indent: "    ", at: `${kind}: ${name}` })},\n`,
    );
    return `  {\n${fields.join("")}    load: () => import("./${kind}/index.js"),\n  },\n`;
  });
  const own = found.flatMap(({ kind, settings }) =>
    settings.own.map((key) => `  ${literal(key, { indent: "  ", at: `${kind}: ${key.path}` })},\n`),
  );
  const kinds = found.map(({ kind }) => JSON.stringify(kind)).join(", ");
  return [
    {
      file: "src/config/environment-settings.gen.ts",
      text: `${ENVIRONMENTS_HEADER}import type { ConfigKey } from "./schema.js";

export const ENVIRONMENT_KINDS = [${kinds}] as const;

/** The settings that environments bring. */
export const ENVIRONMENT_SETTINGS = [
${own.join("")}] as const satisfies readonly ConfigKey[];
`,
    },
    {
      file: "src/env/environments.gen.ts",
      text: `${ENVIRONMENTS_HEADER}import type { EnvironmentEntry } from "./descriptor.js";

export const ENVIRONMENTS: readonly EnvironmentEntry[] = [
${rows.join("")}];
`,
    },
  ];
}

function checkedEnvironment(file, value) {
  const kind = file.split("/").at(-2);
  const problem =
    value?.kind !== kind
      ? `its default export is not the descriptor of an environment of the kind ${JSON.stringify(kind)}`
      : typeof value.check !== "function" || typeof value.open !== "function"
        ? "it has no check or no open"
        : undefined;
  if (problem === undefined) return value;
  throw new Error(
    `${file}: ${problem}. An index.ts below src/env describes an environment: see src/env/AGENTS.md.`,
  );
}

/** Returns the files that had to change. */
export async function writeManifest(root) {
  const outdated = await outdatedModules(root);
  for (const { file, text } of outdated) {
    const partial = join(root, `${file}.${process.pid}.tmp`);
    await mkdir(dirname(partial), { recursive: true });
    await writeFile(partial, text);
    await rename(partial, join(root, file));
  }
  return outdated.map(({ file }) => file);
}

async function outdatedModules(root) {
  const outdated = [];
  for (const module of await generatedModules(root)) {
    if ((await readIfThere(join(root, module.file))) !== module.text) outdated.push(module);
  }
  return outdated;
}

/** Imports modules as they would be built, and gives what those with a default export have there. */
async function defaultExports(root, files) {
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
    const found = [];
    for (const chunk of output) {
      if (chunk.type !== "chunk" || !chunk.isEntry || !chunk.exports.includes("default")) continue;
      const file = relative(root, chunk.facadeModuleId).split(sep).join("/");
      const module = await import(pathToFileURL(join(staging, chunk.fileName)).href);
      found.push({ file, value: module.default });
    }
    return found;
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

async function filesBelow(folder) {
  if (!existsSync(folder)) return [];
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

function entryText({ file, plugin, tool }) {
  const entry = {};
  for (const field of COPIED_FIELDS) if (tool[field] !== undefined) entry[field] = tool[field];
  if (typeof tool.timeoutMs === "number") entry.timeoutMs = tool.timeoutMs;
  entry.hasCheck = tool.checkFn !== undefined;
  entry.hasDynamicSchema = tool.dynamicSchemaOverrides !== undefined;
  entry.hasEffects = tool.effects !== undefined;
  if (plugin !== undefined) entry.plugin = plugin;
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
    process.stdout.write(toolsText(await builtinTools(root)));
  } else if (process.argv.includes("--check")) {
    for (const { file } of await outdatedModules(root)) {
      console.error(`${file} is out of date; run: npm run build`);
      process.exitCode = 1;
    }
  } else {
    console.log((await writeManifest(root)).length > 0 ? "manifest written" : "manifest unchanged");
  }
}
