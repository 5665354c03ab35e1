import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../config/paths.js";
import type { LoadedConfig } from "../../config/types.js";
import { type FoundPlugin, type PluginPlace, readPlugin } from "./read-plugin.js";

export type PluginPlaces = Pick<LoadedConfig, "values" | "paths" | "project">;

/** Every plugin that lies in one of the places, by name. Two of one name are both unusable, and each says so. */
export async function findPlugins(config: PluginPlaces): Promise<readonly FoundPlugin[]> {
  const { paths, project, values } = config;
  const folders: { folder: string; place: PluginPlace; package?: string }[] = [];
  for (const folder of await foldersIn(paths.plugins)) folders.push({ folder, place: "home" });
  if (project?.trusted === true) {
    const own = join(project.folder, PROJECT_FOLDER, "plugins");
    for (const folder of await foldersIn(own)) folders.push({ folder, place: "project" });
  }
  for (const entry of values.plugins.packages) {
    const name = packageName(entry);
    folders.push({ folder: packageFolder(paths.plugins, name), place: "package", package: name });
  }
  const all = await Promise.all(folders.map(readPlugin));
  const found = all.filter((plugin) => oneOfFolder(plugin.folder, all) === plugin);
  return found.map((plugin) => withClash(plugin, found)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `name` and `name@1.2.3` in the list of packages, or a link beside a package, are one plugin. */
function oneOfFolder(folder: string, all: readonly FoundPlugin[]): FoundPlugin | undefined {
  const same = all.filter((plugin) => plugin.folder === folder);
  return same.find(({ problems }) => problems.length === 0) ?? same[0];
}

/** Which of two of one name was meant cannot be guessed: the later one may have been put there to take its place. */
function withClash(plugin: FoundPlugin, all: readonly FoundPlugin[]): FoundPlugin {
  const others = all.filter((other) => other.name === plugin.name && other !== plugin);
  if (others.length === 0) return plugin;
  const places = [plugin, ...others].map((one) => one.folder).sort();
  const clash = `there are ${places.length} plugins called ${plugin.name}: ${places.join(" and ")}; remove or rename one`;
  return { ...plugin, problems: [clash, ...plugin.problems] };
}

export function packageFolder(pluginsFolder: string, name: string): string {
  return join(pluginsFolder, "node_modules", ...name.split("/"));
}

/** `name@1.2.3` → `name`; the `@` of a scope stays. */
export function packageName(spec: string): string {
  const at = spec.indexOf("@", 1);
  return at === -1 ? spec : spec.slice(0, at);
}

async function foldersIn(place: string): Promise<readonly string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(place, { withFileTypes: true });
  } catch {
    return [];
  }
  const folders: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const folder = join(place, entry.name);
    // A link to a folder counts as one: that is how a plugin is worked on in its own repository.
    if (entry.isDirectory() || (entry.isSymbolicLink() && (await isFolder(folder)))) folders.push(folder);
  }
  return folders.sort();
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
