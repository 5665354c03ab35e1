import { readFile, realpath, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { errnoOf, messageOf } from "../../base/errno.js";
import { isAtOrBelow } from "../../base/path.js";
import type { ConfigNode, MapNode } from "../../config/node.js";
import { parseConfigText } from "../../config/parse-yaml.js";
import { isCovered } from "./fingerprint.js";
import { formatManifestProblem, type PluginManifest, readManifest } from "./manifest.js";

export type PluginPlace = "home" | "project" | "package";

/** A plugin as it lies on disk. Nothing of its code has run. */
export interface FoundPlugin {
  /** From the manifest; the name of the folder or package while that cannot be read. */
  readonly name: string;
  readonly place: PluginPlace;
  /** Real path. */
  readonly folder: string;
  /** Name of the npm package. */
  readonly package?: string | undefined;
  readonly manifestFile: string;
  readonly manifest?: PluginManifest;
  /** Real path of the module with `register`. */
  readonly main?: string;
  /** Why it cannot be used, each with file and line where there is one. */
  readonly problems: readonly string[];
}

export const MANIFEST_FILE = "plugin.yaml";
export const PLUGIN_KEYWORD = "hermes-plugin";
const MAIN_FILES = ["index.ts", "index.js", "index.mjs"];

/** Reads the manifest of a plugin folder, or of an installed package. Never rejects. */
export async function readPlugin(where: {
  readonly folder: string;
  readonly place: PluginPlace;
  readonly package?: string | undefined;
}): Promise<FoundPlugin> {
  const fallbackName = where.package === undefined ? basename(where.folder) : nameOfPackage(where.package);
  const found = (rest: Partial<FoundPlugin> & Pick<FoundPlugin, "problems">): FoundPlugin => ({
    name: fallbackName,
    place: where.place,
    folder: where.folder,
    package: where.package,
    manifestFile: join(where.folder, MANIFEST_FILE),
    ...rest,
  });
  try {
    const folder = await realpath(where.folder);
    const read = await readManifestOf(folder, where.package);
    if (!("manifest" in read)) return found({ folder, ...read });
    const { manifest, manifestFile } = read;
    const problems: string[] = [];
    if (where.package === undefined && manifest.name !== fallbackName) {
      problems.push(`${manifestFile}: name is ${manifest.name}, but the folder is called ${fallbackName}`);
    }
    const main = await findMain(folder, manifest);
    if (typeof main === "object") problems.push(main.problem);
    const usable = typeof main === "string" ? { main } : {};
    return found({ name: manifest.name, folder, manifestFile, manifest, ...usable, problems });
  } catch (error) {
    return found({ problems: [explain(error, where)] });
  }
}

type ReadFile =
  | { readonly manifestFile: string; readonly manifest: PluginManifest }
  | { readonly manifestFile: string; readonly problems: readonly string[] };

async function readManifestOf(folder: string, packageName: string | undefined): Promise<ReadFile> {
  const yamlFile = join(folder, MANIFEST_FILE);
  const packageFile = join(folder, "package.json");
  const described = packageName === undefined ? undefined : await parseFile(packageFile);
  if (described !== undefined && "problems" in described) return { manifestFile: packageFile, ...described };
  if (described !== undefined && !keywordsOf(described.root).includes(PLUGIN_KEYWORD)) {
    const problem = `${packageFile}: the package does not have the keyword "${PLUGIN_KEYWORD}"`;
    return { manifestFile: packageFile, problems: [problem] };
  }
  const inPackage = described === undefined ? undefined : entryOf(described.root, "hermes");
  if (inPackage?.kind === "map") {
    const defaults = described === undefined ? {} : defaultsOf(described.root, packageName ?? "");
    return checked(packageFile, readManifest(inPackage, defaults));
  }
  const parsed = await parseFile(yamlFile);
  if ("problems" in parsed) return { manifestFile: yamlFile, ...parsed };
  return checked(yamlFile, readManifest(parsed.root));
}

function checked(manifestFile: string, read: ReturnType<typeof readManifest>): ReadFile {
  if (read.ok) return { manifestFile, manifest: read.manifest };
  return {
    manifestFile,
    problems: read.problems.map((problem) => formatManifestProblem(problem, manifestFile)),
  };
}

/** JSON is read by the YAML parser as well: it remembers the lines. */
async function parseFile(
  file: string,
): Promise<{ readonly root: MapNode } | { readonly problems: readonly string[] }> {
  let text: Uint8Array;
  try {
    text = await readFile(file);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return { problems: [`${file} is missing`] };
  }
  const parsed = await parseConfigText(text);
  return parsed.ok ? { root: parsed.root } : { problems: [formatManifestProblem(parsed, file)] };
}

async function findMain(
  folder: string,
  manifest: PluginManifest,
): Promise<string | { readonly problem: string }> {
  const candidates = manifest.main === undefined ? MAIN_FILES : [manifest.main];
  for (const candidate of candidates) {
    const path = join(folder, candidate);
    if ((await stat(path).catch(() => undefined))?.isFile() !== true) continue;
    const real = await realpath(path);
    if (!isAtOrBelow(real, folder)) return { problem: `${path} leads out of the plugin's folder` };
    if (isCovered(relative(folder, real))) return real;
    return { problem: `${path} lies where files are not confirmed: move it out of node_modules and .git` };
  }
  return { problem: `${folder} has no ${candidates.join(", no ")}` };
}

function entryOf(root: MapNode, name: string): ConfigNode | undefined {
  return root.entries.find((entry) => entry.name === name)?.node;
}

function keywordsOf(root: MapNode): readonly unknown[] {
  const node = entryOf(root, "keywords");
  return node?.kind === "list" ? node.items.map((item) => (item.kind === "scalar" ? item.value : null)) : [];
}

/** What `package.json` says anyway need not be said twice. */
function defaultsOf(root: MapNode, packageName: string): Readonly<Record<string, ConfigNode>> {
  const defaults: Record<string, ConfigNode> = {
    name: { kind: "scalar", value: nameOfPackage(packageName) },
  };
  for (const field of ["version", "description", "author", "main"]) {
    const node = entryOf(root, field);
    if (node !== undefined) defaults[field] = node;
  }
  return defaults;
}

/** `@someone/hermes-plugin-weather` → `weather`. */
export function nameOfPackage(packageName: string): string {
  return packageName.replace(/^@[^/]*\//, "").replace(/^hermes-plugin-/, "");
}

function explain(
  error: unknown,
  where: { readonly folder: string; readonly package?: string | undefined },
): string {
  if (errnoOf(error) === "ENOENT" && where.package !== undefined) {
    return `the package ${where.package} is not installed; run: hermes plugins install ${where.package}`;
  }
  return `${where.folder}: ${messageOf(error)}`;
}
