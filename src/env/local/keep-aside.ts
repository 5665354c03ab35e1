import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname } from "node:path";
import { HeldFolder } from "./held-folder.js";

/**
 * A second name for the same file costs nothing, and files are replaced, not written over. Only a file that has
 * other names already, or lies on another disk, is copied: somebody could change it through them.
 */
export async function keepAside(path: string, copy: string): Promise<void> {
  const folder = await HeldFolder.open(dirname(path));
  try {
    const place = folder.at(basename(path));
    if (await linked(place, copy)) return;
    const source = await fs.open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await fs.writeFile(copy, source.createReadStream({ autoClose: false }), { flag: "wx", mode: 0o600 });
    } finally {
      await source.close();
    }
  } finally {
    await folder.close();
  }
}

async function linked(place: string, copy: string): Promise<boolean> {
  try {
    await fs.link(place, copy);
  } catch {
    return false;
  }
  const stats = await fs.lstat(copy);
  // A link to a file is not the file.
  if (stats.isFile() && stats.nlink === 2) return true;
  await fs.rm(copy);
  return false;
}
