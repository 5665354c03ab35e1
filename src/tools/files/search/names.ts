import type { CallContext } from "../../../tool/tool.js";
import { rankFuzzily } from "../fuzzy.js";
import { listWithFind } from "./fallback.js";
import { globMatcher, isGlob } from "./globs.js";
import { listWithRipgrep } from "./ripgrep.js";
import type { SearchRoot } from "./types.js";

export interface NameQuery {
  readonly pattern: string;
  readonly root: SearchRoot;
  readonly fileGlob: string | undefined;
  readonly fuzzy: boolean;
}

/** Files whose name fits: best first when fuzzy, else newest first. Paths are relative to the root folder. */
export async function searchNames(query: NameQuery, ctx: CallContext): Promise<string[]> {
  const listed =
    (await listWithRipgrep(query.root, query.fuzzy ? "any" : "newest", ctx)) ??
    (await listWithFind(query.root, ctx));
  const accepts = query.fileGlob === undefined ? () => true : await globMatcher(query.fileGlob);
  const files = listed.filter(accepts);
  if (query.fuzzy && !isGlob(query.pattern)) return await rankFuzzily(files, query.pattern);
  const fits = await nameTest(query.pattern, query.root);
  return files.filter(fits);
}

async function nameTest(pattern: string, root: SearchRoot): Promise<(path: string) => boolean> {
  const relative = pattern.startsWith(`${root.folder}/`) ? pattern.slice(root.folder.length + 1) : pattern;
  if (isGlob(relative)) return await globMatcher(relative);
  const wanted = relative.replace(/^\.\//, "").toLowerCase();
  const byName = !wanted.includes("/");
  return (path) => (byName ? path.slice(path.lastIndexOf("/") + 1) : path).toLowerCase().includes(wanted);
}
