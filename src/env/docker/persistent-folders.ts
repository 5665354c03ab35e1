import { lstat, mkdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import type { KeptFolders } from "./create-options.js";
import type { DockerOptions } from "./docker.js";

/** Home and workspace of a task on this machine, made when they are missing. */
export async function keptFolders(options: DockerOptions): Promise<KeptFolders | undefined> {
  if (options.persistent !== true) return undefined;
  if (options.sandboxDir === undefined) {
    throw new ToolError("A persistent container needs a folder of this machine to keep its files in.", {
      code: "unavailable",
      hint: "Give `sandboxDir`, or set persistent to false.",
    });
  }
  const base = join(resolve(options.sandboxDir), "docker", folderName(options.task));
  const folders = { home: join(base, "home"), workspace: join(base, "workspace") };
  await mkdir(base, { recursive: true, mode: 0o700 });
  await ownFolder(base);
  for (const folder of Object.values(folders)) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await ownFolder(folder);
  }
  return folders;
}

/** Two tasks never share a folder, whatever characters their names are made of. */
function folderName(task: string): string {
  const plain = task.replace(/[^a-zA-Z0-9_-]+/g, "-").slice(0, 40);
  return `${plain}-${sha256(task).slice(0, 8)}`;
}

/** The engine follows links: one put here by a container of before would give it another folder. */
async function ownFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (found.isDirectory()) return;
  throw new ToolError(`${folder} should be a folder, but is a ${found.isSymbolicLink() ? "link" : "file"}.`, {
    code: "unavailable",
    hint: "Move it away and call again.",
  });
}

/** Podman would make a missing folder, as root. */
export async function requireSources(options: DockerOptions): Promise<void> {
  for (const { source } of options.mounts ?? []) {
    try {
      await stat(source);
    } catch (error) {
      throw new ToolError(`Cannot mount ${JSON.stringify(source)}: ${(error as Error).message}.`, {
        code: "unavailable",
        hint: "Make the folder or file first, or correct the mount in the configuration.",
      });
    }
  }
}
