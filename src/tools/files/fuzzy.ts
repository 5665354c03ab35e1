import { findPaths } from "./search/fuzzy/find-paths.js";
import { PathIndex } from "./search/fuzzy/path-index.js";

/** Items that resemble the query, best first. Equal scores: shorter, then alphabetical. */
export function rankFuzzily(
  items: readonly string[],
  query: string,
  limit = Number.POSITIVE_INFINITY,
): readonly string[] {
  return findPaths(new PathIndex(items), query, { wanted: limit }).paths;
}
