import { existsSync, mkdirSync, mkdtempSync, renameSync, rmdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../../base/errno.js";
import { isAlive } from "../../store/process-owner.js";
import { namesIn } from "../names-in.js";

/**
 * A protected name that does not exist needs something to mount on, so an empty folder stands in for it
 * while a command runs. Removing it would take the mount away from every other sandbox that uses it; each
 * user therefore keeps a marker folder in it, and it goes with the last one.
 */
const MARKER = /^\.hermes-in-use\.(\d+)\.\d+$/;
let counter = 0;

export interface Placeholder {
  readonly path: string;
  readonly marker: string;
}

/** Undefined where nothing can be made: then the command cannot make it either, or it is somebody's own. */
export function holdPlace(path: string): Placeholder | undefined {
  const marker = `.hermes-in-use.${process.pid}.${++counter}`;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    try {
      // It appears together with its marker, so nobody takes it for somebody's own empty folder.
      const fresh = mkdtempSync(join(dirname(path), ".hermes-place-"));
      mkdirSync(join(fresh, marker));
      if (moved(fresh, path)) return { path, marker };
      rmdirSync(join(fresh, marker));
      rmdirSync(fresh);
      if (!isPlaceholder(path)) return undefined;
      mkdirSync(join(path, marker));
      return { path, marker };
    } catch (error) {
      const code = errnoOf(error);
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") return undefined;
      // Taken away by its last user in between: make it anew.
      if (code !== "ENOENT" || !existsSync(dirname(path))) throw error;
    }
  }
  throw new Error(`${path} keeps appearing and disappearing`);
}

export function isPlaceholder(path: string): boolean {
  const names = namesIn(path);
  return names.length > 0 && names.every((name) => MARKER.test(name));
}

/**
 * The last user takes it away in one step: without its markers, others would take it for somebody's own folder
 * while it is being removed. Removing itself is left to the background: folders that were mounted on can take
 * milliseconds each.
 */
export async function releasePlace({ path, marker }: Placeholder): Promise<void> {
  const away = join(dirname(path), `.hermes-gone-${process.pid}-${++counter}`);
  if (!inUseByOthers(path, marker) && moved(path, away)) {
    if (!inUseByOthers(away, marker)) {
      for (const name of namesIn(away)) await removeEmpty(join(away, name));
      await removeEmpty(away);
      return;
    }
    // Somebody began to use it in between.
    moved(away, path);
  }
  // At once: between looking and removing, the other users would still see this one.
  removeNow(join(path, marker));
  if (namesIn(path).length === 0) removeNow(path);
}

function removeNow(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Gone already, or in use by others.
  }
}

/** By a living process; what is no marker at all counts as somebody's own. */
function inUseByOthers(path: string, own: string): boolean {
  return namesIn(path).some((name) => {
    const [, pid] = MARKER.exec(name) ?? [];
    return name !== own && (pid === undefined || isAlive(Number(pid)));
  });
}

function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** A folder that is gone already, or in use by others, is fine. */
async function removeEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => {});
}
