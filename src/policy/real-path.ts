import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { followLinks } from "./paths/resolve-path.js";

/**
 * Where a path really leads: links followed, also dangling ones, whose target a write would create. What does
 * not exist yet keeps its name below its deepest existing ancestor.
 */
export function realPathOf(path: string): string {
  const place = followLinks(resolve(path));
  if (typeof place === "string") return place;
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
