import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package, wherever its code was bundled to; undefined where the code stands alone. */
export function packageRoot(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) || folder.endsWith(`${join("dist", "cli")}`)) {
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return folder;
}

/** Whoever changes one of these changes what runs here: the package, and what it needs where that lies beside it. */
export function ownFiles(root = packageRoot()): readonly string[] {
  if (root === undefined) return [];
  const modules = dirname(root);
  const isOfProject =
    basename(modules) === "node_modules" && existsSync(join(dirname(modules), "package.json"));
  return isOfProject ? [modules] : [root];
}
