import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import { optionalPackage } from "./wanted.js";

export const SETUP_COMMAND = "hermes setup tools";

/** Where `hermes setup tools` installs. */
export function packagesFolder(home: string): string {
  return join(home, "packages");
}

/** Imports by a bare name from there: only a module that lies there can. */
export const LOADER_FILE = "load.mjs";
export const LOADER_TEXT = "export const load = (name) => import(name);\n";

/** What was set up for Hermes wins: in somebody's project, another version may lie about. */
export function installedVersion(name: string, home: string): string | undefined {
  return versionInHome(name, home) ?? versionHere(name);
}

/** The folder of a package that is installed, as `installedVersion` finds it. */
export function packageFolder(name: string, home: string): string | undefined {
  const inHome = join(packagesFolder(home), "node_modules", name);
  if (versionIn(inHome) !== undefined) return inHome;
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((folder) => versionIn(folder) !== undefined);
}

export function versionInHome(name: string, home: string): string | undefined {
  return versionIn(join(packagesFolder(home), "node_modules", name));
}

/** Of what this installation can import by itself. */
export function versionHere(name: string): string | undefined {
  const folder = folderHere(name);
  return folder === undefined ? undefined : versionIn(folder);
}

function folderHere(name: string): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((folder) => versionIn(folder) !== undefined);
}

/** Where a package lies that is installed. */
export function folderOfPackage(name: string, home: string): string {
  const found = versionInHome(name, home) === undefined ? folderHere(name) : undefined;
  if (found !== undefined) return found;
  if (versionInHome(name, home) === undefined) throw missing(name, "it is not installed");
  return join(packagesFolder(home), "node_modules", name);
}

export async function loadPackage(name: string, home: string): Promise<unknown> {
  try {
    if (versionInHome(name, home) !== undefined) {
      const loader = pathToFileURL(join(packagesFolder(home), LOADER_FILE)).href;
      const { load } = (await import(loader)) as { load(name: string): Promise<unknown> };
      return await load(name);
    }
    if (versionHere(name) !== undefined) return await import(name);
  } catch (error) {
    throw missing(name, messageOf(error), error);
  }
  throw missing(name, "it is not installed");
}

function missing(name: string, why: string, cause?: unknown): ToolError {
  const about = optionalPackage(name)?.about;
  const what = about === undefined ? name : `${name}, which ${about},`;
  return new ToolError(`The library ${what} cannot be loaded: ${why}.`, {
    code: "unavailable",
    hint: `Run \`${SETUP_COMMAND}\`, then try again.`,
    cause,
  });
}

function versionIn(folder: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      version?: unknown;
    };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}
