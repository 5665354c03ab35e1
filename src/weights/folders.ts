import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../base/package-root.js";
import type { WantedPackage } from "./wanted.js";

/** The first folder that holds every file in its full length; hashes are checked when files are fetched. */
export function folderWith(
  packages: readonly WantedPackage[],
  options: { readonly home: string },
): string | undefined {
  const wanted = packages.flatMap(({ files }) => files);
  return weightsFolders(options).find((folder) =>
    wanted.every(({ to, bytes }) => sizeOf(join(folder, to)) === bytes),
  );
}

/** In the order in which they are looked at. */
export function weightsFolders({ home }: { readonly home: string }): readonly string[] {
  const root = packageRoot();
  return [join(home, "models"), ...(root === undefined ? [] : [join(root, "models")])];
}

/** A checkout keeps the files beside its code; an installed package must not change itself. */
export function folderToFill({ home }: { readonly home: string }): string {
  const root = packageRoot();
  if (root !== undefined && existsSync(join(root, "src")) && isWritable(root)) return join(root, "models");
  return join(home, "models");
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
