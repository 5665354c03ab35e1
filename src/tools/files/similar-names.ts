import { basename, dirname, join } from "node:path";
import type { CallContext } from "../../tool/tool.js";
import { findPaths } from "./search/fuzzy/find-paths.js";
import { PathIndex } from "./search/fuzzy/path-index.js";

const MAX_SUGGESTIONS = 5;

/** Existing names in the same folder (or the nearest existing one above) that resemble a missing path. */
export async function similarNames(path: string, ctx: CallContext): Promise<string[]> {
  let folder = dirname(path);
  let wanted = basename(path);
  for (let up = 0; up < 3; up++) {
    const stat = await ctx.environment.files.stat(folder).catch(() => undefined);
    if (stat?.type === "directory") break;
    wanted = basename(folder);
    folder = dirname(folder);
  }
  const entries = await ctx.environment.files.list(folder).catch(() => []);
  const names = entries.map((entry) => entry.name);
  const stem = stemOf(wanted);
  const found = [
    ...rankFuzzily(names, wanted, MAX_SUGGESTIONS),
    ...rankFuzzily(names, stem, MAX_SUGGESTIONS),
  ];
  // Fuzzy finding forgives one slip; a name that differs more needs another measure.
  const near = names
    .map((name) => ({ name, shared: sharedBigrams(stemOf(name).toLowerCase(), stem.toLowerCase()) }))
    .filter(({ shared }) => shared >= 0.5)
    .sort((left, right) => right.shared - left.shared)
    .map(({ name }) => name);
  return [...new Set([...near, ...found])].slice(0, MAX_SUGGESTIONS).map((name) => join(folder, name));
}

/** Without the extension: sharing ".txt" is no resemblance. */
function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]+$/, "");
}

function sharedBigrams(a: string, b: string): number {
  const pairs = (text: string) =>
    new Set(Array.from({ length: text.length - 1 }, (_, i) => text.slice(i, i + 2)));
  if (a.length < 2 || b.length < 2) return a === b ? 1 : 0;
  const left = pairs(a);
  const right = pairs(b);
  let shared = 0;
  for (const pair of left) if (right.has(pair)) shared++;
  return (2 * shared) / (left.size + right.size);
}

/** Items that resemble the query, best first. Equal scores: shorter, then alphabetical. */
export function rankFuzzily(
  items: readonly string[],
  query: string,
  limit = Number.POSITIVE_INFINITY,
): readonly string[] {
  return findPaths(new PathIndex(items), query, { wanted: limit }).paths;
}
