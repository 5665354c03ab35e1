import { join } from "node:path";
import type { CallContext, Kept } from "../../../tool/tool.js";
import { listWithFind } from "./fallback.js";
import { findPaths } from "./fuzzy/find-paths.js";
import { PathIndex } from "./fuzzy/path-index.js";
import { globMatcher, isGlob } from "./globs.js";
import { listWithRipgrep } from "./ripgrep.js";
import { runLines } from "./run-lines.js";
import { comparePaths, type Page, type SearchRoot } from "./types.js";

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

/** So few are asked for one by one. */
const FEW = 500;
const AT_A_TIME = 64;

/** Paths of this machine, newest first; equal times by name. */
async function newestFirst(paths: readonly string[], root: SearchRoot, ctx: CallContext): Promise<string[]> {
  const times =
    (paths.length > FEW ? await timesByProgram(paths, root, ctx) : undefined) ??
    (await timesOneByOne(paths, root, ctx));
  return paths.toSorted(
    (left, right) => (times.get(right) ?? 0) - (times.get(left) ?? 0) || comparePaths(left, right),
  );
}

type Times = ReadonlyMap<string, number>;

/** Undefined where the programs are missing or of another make (macOS). */
async function timesByProgram(
  paths: readonly string[],
  root: SearchRoot,
  ctx: CallContext,
): Promise<Times | undefined> {
  const times = new Map<string, number>();
  const result = await runLines({
    command: ["xargs", "-0", "stat", "--printf", "%.9Y %n\\0", "--"],
    stdin: paths.map((path) => `./${path}\0`).join(""),
    cwd: root.folder,
    separator: "\0",
    ctx,
    onRecord: (record) => {
      const blank = record.indexOf(" ");
      times.set(record.slice(blank + 3), Number(record.slice(0, blank)));
      return true;
    },
  });
  // A file that has just gone fails the program and spoils nothing.
  return result.exitCode === 0 || times.size > paths.length / 2 ? times : undefined;
}

async function timesOneByOne(paths: readonly string[], root: SearchRoot, ctx: CallContext): Promise<Times> {
  const times = new Map<string, number>();
  for (let start = 0; start < paths.length; start += AT_A_TIME) {
    ctx.signal.throwIfAborted();
    await Promise.all(
      paths.slice(start, start + AT_A_TIME).map(async (path) => {
        const stat = await ctx.environment.files.stat(join(root.folder, path)).catch(() => undefined);
        times.set(path, stat?.mtimeMs ?? 0);
      }),
    );
  }
  return times;
}

/** How long a list of files is believed: long enough for a series of questions, too short to miss much. */
const FRESH_MS = 5000;
const MAX_INDEXES = 3;
/** After any other tool of the session the files may be different ones. */
const READERS: ReadonlySet<string> = new Set(["read_file", "search_files"]);

/** The files of a folder prepared for fuzzy finding, for a few seconds. */
class FileIndexes implements Kept {
  readonly #known = new Map<string, { readonly index: Promise<PathIndex>; readonly timer: NodeJS.Timeout }>();

  async indexOf(
    folder: string,
    list: () => Promise<readonly string[]>,
    { previousTool }: CallContext["session"],
  ): Promise<PathIndex> {
    if (previousTool !== undefined && !READERS.has(previousTool)) this.close();
    const known = this.#known.get(folder);
    // Whoever began the list may have been stopped; that must not stop this call too.
    return (await known?.index.catch(() => undefined)) ?? (await this.#make(folder, list));
  }

  async #make(folder: string, list: () => Promise<readonly string[]>): Promise<PathIndex> {
    this.#forget(folder);
    for (const oldest of this.#known.keys()) if (this.#known.size >= MAX_INDEXES) this.#forget(oldest);
    const index = list().then((paths) => new PathIndex(paths));
    const timer = setTimeout(() => this.#forget(folder), FRESH_MS).unref();
    this.#known.set(folder, { index, timer });
    index.catch(() => this.#forget(folder));
    return await index;
  }

  #forget(folder: string): void {
    clearTimeout(this.#known.get(folder)?.timer);
    this.#known.delete(folder);
  }

  close(): void {
    for (const folder of this.#known.keys()) this.#forget(folder);
  }
}

/** Up to so many are held; then only those that will be shown. */
const MOST_HELD = 20_000;
/** More than this are sorted rather than put in one by one. */
const FEW_WANTED = 500;

/**
 * Takes in paths as they are found. A few thousand are all kept, so that they can be sorted by age; of more only
 * the first ones in order of path, because asking for so many ages would take longer than finding the files.
 */
export class FirstPaths {
  count = 0;
  readonly #wanted: number;
  #held: string[] = [];
  #ordered = false;

  /** `wanted`: how many of them will be needed in order of path. */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  add(path: string): void {
    this.count++;
    if (this.#ordered) this.#insert(path);
    else if (this.#held.push(path) > MOST_HELD) this.#order();
  }

  /** All of them in the order they came, or undefined when they were too many. */
  get all(): readonly string[] | undefined {
    return this.#ordered ? undefined : this.#held;
  }

  /** The first ones in order of path. */
  get first(): readonly string[] {
    return this.#held.toSorted(comparePaths).slice(0, this.#wanted);
  }

  #order(): void {
    this.#ordered = true;
    if (this.#wanted > FEW_WANTED) return;
    const held = this.#held;
    this.#held = [];
    for (const path of held) this.#insert(path);
  }

  #insert(path: string): void {
    const held = this.#held;
    if (this.#wanted > FEW_WANTED) {
      held.push(path);
      return;
    }
    let at = held.length;
    while (at > 0 && isBefore(path, held[at - 1] ?? "")) at--;
    if (at >= this.#wanted) return;
    held.splice(at, 0, path);
    if (held.length > this.#wanted) held.pop();
  }
}

/** As `<` says, but quicker for pieces of long texts. */
function isBefore(left: string, right: string): boolean {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = left.charCodeAt(at) - right.charCodeAt(at);
    if (difference !== 0) return difference < 0;
  }
  return left.length < right.length;
}
