import type { CallContext } from "../../../tool/tool.js";
import { newestFirst } from "./dates.js";
import { listWithFind } from "./fallback.js";
import { FileIndexes } from "./file-indexes.js";
import { FirstPaths } from "./first-paths.js";
import { findPaths } from "./fuzzy/find-paths.js";
import { globMatcher, isGlob } from "./globs.js";
import { listWithRipgrep } from "./ripgrep.js";
import type { Page, SearchRoot } from "./types.js";

export interface NameQuery {
  readonly pattern: string;
  readonly root: SearchRoot;
  readonly fileGlob: string | undefined;
  readonly fuzzy: boolean;
  readonly page: Page;
  isVisible(path: string): boolean;
}

export interface NameFindings {
  /** Those of the page, relative to the root folder. */
  readonly files: readonly string[];
  readonly total: number;
  readonly sortedBy: "resemblance" | "newest" | "path";
}

export async function searchNames(query: NameQuery, ctx: CallContext): Promise<NameFindings> {
  if (query.fuzzy && !isGlob(query.pattern)) return await findFuzzily(query, ctx);
  const accepts = await acceptedBy(query);
  // Elsewhere every further question takes its time, so the program there does the sorting.
  return ctx.environment.kind === "local"
    ? await findHere(query, accepts, ctx)
    : await findThere(query, accepts, ctx);
}

async function findFuzzily(query: NameQuery, ctx: CallContext): Promise<NameFindings> {
  const { root, page, isVisible } = query;
  const list = async () => {
    const files: string[] = [];
    const onFile = (path: string) => {
      if (isVisible(path)) files.push(path);
    };
    if (await listWithRipgrep({ root, order: "any", ctx, onFile })) return files;
    return (await listWithFind(root, ctx)).files.filter(isVisible);
  };
  const index = await ctx.keep(FileIndexes).indexOf(`${root.folder}\0${root.operand}`, list, ctx.session);
  const { paths, total } = findPaths(index, withoutFolder(query.pattern, root), {
    wanted: page.offset + page.limit,
    ...(query.fileGlob !== undefined && { accepts: await globMatcher(query.fileGlob) }),
  });
  return { files: paths.slice(page.offset), total, sortedBy: "resemblance" };
}

type Accepts = (path: string) => boolean;

async function findHere(query: NameQuery, accepts: Accepts, ctx: CallContext): Promise<NameFindings> {
  const { root, page } = query;
  const found = new FirstPaths(page.offset + page.limit);
  const onFile = (path: string) => {
    if (accepts(path)) found.add(path);
  };
  if (!(await listWithRipgrep({ root, order: "any", glob: globOf(query), ctx, onFile }))) {
    return await findWithoutRipgrep(query, accepts, ctx);
  }
  const { all, count: total } = found;
  return all === undefined
    ? { files: onPage(found.first, page), total, sortedBy: "path" }
    : { files: onPage(await newestFirst(all, root, ctx), page), total, sortedBy: "newest" };
}

async function findThere(query: NameQuery, accepts: Accepts, ctx: CallContext): Promise<NameFindings> {
  const { root, page } = query;
  const files: string[] = [];
  const onFile = (path: string) => {
    if (accepts(path)) files.push(path);
  };
  const ran = await listWithRipgrep({ root, order: "newest", glob: globOf(query), ctx, onFile });
  if (!ran) return await findWithoutRipgrep(query, accepts, ctx);
  return { files: onPage(files, page), total: files.length, sortedBy: "newest" };
}

async function findWithoutRipgrep(
  { root, page }: NameQuery,
  accepts: Accepts,
  ctx: CallContext,
): Promise<NameFindings> {
  const { files, dated } = await listWithFind(root, ctx);
  const found = files.filter(accepts);
  return { files: onPage(found, page), total: found.length, sortedBy: dated ? "newest" : "path" };
}

function onPage(files: readonly string[], { offset, limit }: Page): readonly string[] {
  return files.slice(offset, offset + limit);
}

function globOf({ pattern, fileGlob, root }: NameQuery): string | undefined {
  const relative = withoutFolder(pattern, root);
  return isGlob(relative) ? relative : fileGlob;
}

async function acceptedBy({ pattern, root, fileGlob, isVisible }: NameQuery): Promise<Accepts> {
  const fits = await nameTest(withoutFolder(pattern, root));
  const inGlob = fileGlob === undefined ? undefined : await globMatcher(fileGlob);
  return (path) => fits(path) && (inGlob === undefined || inGlob(path)) && isVisible(path);
}

/** Paths as a model copies them from elsewhere: absolute, or with a leading dot. */
function withoutFolder(pattern: string, root: SearchRoot): string {
  const relative = pattern.startsWith(`${root.folder}/`) ? pattern.slice(root.folder.length + 1) : pattern;
  return relative.replace(/^\.\//, "");
}

async function nameTest(pattern: string): Promise<(path: string) => boolean> {
  if (pattern === "*" || pattern === "**" || pattern === "**/*") return () => true;
  if (isGlob(pattern)) return await globMatcher(pattern);
  const wanted = pattern.toLowerCase();
  const byName = !wanted.includes("/");
  return (path) => (byName ? path.slice(path.lastIndexOf("/") + 1) : path).toLowerCase().includes(wanted);
}
