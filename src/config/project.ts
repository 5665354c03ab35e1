import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type EnvironmentVariables, PROJECT_FOLDER } from "./paths.js";

/** The nearest folder, from `cwd` upwards, that holds a `.hermes` of its own. A Hermes home is none. */
export function findProject(options: {
  readonly cwd: string;
  readonly home: string;
  readonly env: EnvironmentVariables;
}): string | undefined {
  const userHome = options.env.HOME || homedir();
  const homes = new Set([realPath(options.home), realPath(join(userHome, PROJECT_FOLDER))]);
  for (let folder = realPath(resolve(options.cwd)); ; folder = dirname(folder)) {
    const candidate = join(folder, PROJECT_FOLDER);
    if (isFolder(candidate) && !homes.has(realPath(candidate))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
