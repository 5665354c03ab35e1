import { dirname, join } from "node:path/posix";
import type { EnvironmentFiles } from "../../../env/environment.js";

const MAX_LEVELS = 40;

/** The folders from a place up to the root, nearest first. */
export function foldersUpwards(folder: string): readonly string[] {
  const folders: string[] = [];
  for (let at = folder; folders.length < MAX_LEVELS; at = dirname(at)) {
    folders.push(at);
    if (dirname(at) === at) break;
  }
  return folders;
}

/** The nearest folder above that holds one of these names, and which. */
export async function findUpwards(
  files: EnvironmentFiles,
  from: string,
  names: readonly string[],
): Promise<{ readonly folder: string; readonly name: string; readonly path: string } | undefined> {
  for (const folder of foldersUpwards(from)) {
    for (const name of names) {
      const path = join(folder, name);
      if ((await files.stat(path)) !== undefined) return { folder, name, path };
    }
  }
  return undefined;
}

/** Text of a file, when it is there and small enough to be a settings file. */
export async function smallText(files: EnvironmentFiles, path: string): Promise<string | undefined> {
  const stat = await files.stat(path);
  if (stat?.type !== "file" || stat.size > 1024 * 1024) return undefined;
  return Buffer.from(await files.read(path)).toString("utf8");
}

/** The nearest package.json above, read; undefined when there is none that can be understood. */
export async function packageOf(
  files: EnvironmentFiles,
  from: string,
): Promise<{ readonly folder: string; readonly json: Readonly<Record<string, unknown>> } | undefined> {
  const found = await findUpwards(files, from, ["package.json"]);
  const text = found === undefined ? undefined : await smallText(files, found.path);
  if (found === undefined || text === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json !== "object" || json === null) return undefined;
    return { folder: found.folder, json: json as Record<string, unknown> };
  } catch {
    return undefined;
  }
}

/** True when a package names this one among what it needs. */
export function dependsOn(json: Readonly<Record<string, unknown>>, name: string): boolean {
  return ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"].some((field) => {
    const list = json[field];
    return typeof list === "object" && list !== null && Object.hasOwn(list, name);
  });
}
