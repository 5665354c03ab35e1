import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const MAX_LINKS = 40;

/**
 * Where a path really leads: links followed, also dangling ones, whose target a write would create. What does
 * not exist yet keeps its name below its deepest existing ancestor.
 */
export function realPathOf(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const place = join(realPathOf(parent, links), basename(path));
    const target = linkTarget(place);
    return target === undefined || links >= MAX_LINKS
      ? place
      : realPathOf(resolve(dirname(place), target), links + 1);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
