import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errno.js";

export type ToolFolderOrigin = "home" | "project";

export interface ToolFolder {
  readonly path: string;
  readonly origin: ToolFolderOrigin;
}

export interface ToolFile {
  readonly file: string;
  readonly folder: string;
  readonly origin: ToolFolderOrigin;
  readonly mtimeNs: bigint;
  readonly size: number;
}

export interface UnreadableFile {
  readonly file: string;
  readonly origin: ToolFolderOrigin;
  readonly message: string;
}

/** More than any hand-written module; a bigger file is a mistake and would stall the parser. */
const MAX_MODULE_BYTES = 4 * 1024 * 1024;

const PACKAGE_ENTRIES = ["tool.ts", "tool.js", "tool.mjs"];

/** Folders whose modules may run. A project's own folder counts only once the person trusts the project. */
export function toolFolders(places: {
  readonly home: string;
  readonly project?: { readonly root: string; readonly trusted: boolean } | undefined;
}): readonly ToolFolder[] {
  const folders: ToolFolder[] = [{ path: join(places.home, "tools"), origin: "home" }];
  if (places.project?.trusted === true) {
    folders.push({ path: join(places.project.root, ".hermes", "tools"), origin: "project" });
  }
  return folders;
}

/** The module files of a folder, sorted by name: its own and `<name>/tool.ts|js|mjs`. */
export async function listToolFiles(folder: ToolFolder): Promise<{
  readonly files: readonly ToolFile[];
  readonly unreadable: readonly UnreadableFile[];
}> {
  const files: ToolFile[] = [];
  const unreadable: UnreadableFile[] = [];
  const report = (file: string, error: unknown): void => {
    unreadable.push({ file, origin: folder.origin, message: describe(error) });
  };
  let entries: Dirent[] = [];
  try {
    entries = await readdir(folder.path, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") report(folder.path, error);
  }
  for (const name of entries.map((entry) => entry.name).sort()) {
    if (name.startsWith(".") || name === "node_modules") continue;
    const path = join(folder.path, name);
    try {
      const found = isModuleName(name) ? await moduleFile(path) : await packageEntry(path);
      if (found !== undefined) files.push({ ...found, folder: folder.path, origin: folder.origin });
    } catch (error) {
      report(path, error);
    }
  }
  return { files, unreadable };
}

function isModuleName(name: string): boolean {
  return /\.(?:ts|js|mjs)$/.test(name) && !/\.d\.ts$/.test(name) && !/\.(?:test|spec)\.\w+$/.test(name);
}

type FoundFile = Pick<ToolFile, "file" | "mtimeNs" | "size">;

async function moduleFile(file: string): Promise<FoundFile | undefined> {
  const status = await stat(file, { bigint: true });
  if (!status.isFile()) return undefined;
  if (status.size > MAX_MODULE_BYTES) {
    throw new Error(
      `The module has ${status.size} bytes; tool modules may have ${MAX_MODULE_BYTES}. Keep data in a file beside it.`,
    );
  }
  return { file, mtimeNs: status.mtimeNs, size: Number(status.size) };
}

async function packageEntry(path: string): Promise<FoundFile | undefined> {
  for (const name of PACKAGE_ENTRIES) {
    try {
      const found = await moduleFile(join(path, name));
      if (found !== undefined) return found;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR") throw error;
    }
  }
  return undefined;
}

function describe(error: unknown): string {
  return errnoOf(error) === "ENOENT"
    ? "The link points to a file that does not exist; remove it or restore the file."
    : messageOf(error);
}
