import { dirname, join, relative } from "node:path/posix";
import { isAtOrBelow } from "../../base/path.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { folderSizes } from "./list/folder-sizes.js";
import { type GitStatus, gitStatus } from "./list/git-status.js";
import { IgnoreRules } from "./list/ignore-rules.js";
import { inParallel } from "./list/in-parallel.js";
import { compactTree, drawnTree, type TreeEntry } from "./list/tree.js";
import { addStats, type Found, looksAtOnce, type WalkRequest, walk } from "./list/walk.js";
import { absolutePath, type Location, locate } from "./paths.js";
import { globMatcher } from "./search/globs.js";
import { similarNames } from "./similar-names.js";

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 5_000;
const MAX_DEPTH = 32;

interface ListResult {
  readonly success: true;
  readonly status: "success";
  readonly path: string;
  readonly environment: string;
  readonly entries: readonly TreeEntry[];
  readonly tree: string;
  /** All that would be listed; with `total_is_lower_bound` there may be more. */
  readonly total: number;
  readonly total_is_lower_bound?: true;
  readonly truncated: boolean;
  readonly sort: "name" | "size" | "mtime";
  /** Entries that were left out, and why. */
  readonly hidden?: number;
  readonly ignored?: number;
  readonly unreadable?: readonly string[];
  readonly git?: { readonly branch: string; readonly changed: number; readonly deleted: readonly string[] };
  readonly hint?: string;
}

export default defineTool({
  name: "directory_list",
  toolset: "files",
  emoji: "📂",
  description: "List a folder as a tree, with sizes and git changes, without what git ignores.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", default: "." },
      depth: { type: "integer", minimum: 1, maximum: MAX_DEPTH, default: 2 },
      show_hidden: { type: "boolean", default: false },
      show_ignored: { type: "boolean", default: false },
      pattern: { type: "string", minLength: 1, description: "Glob, e.g. *.ts or src/**/test-*." },
      limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
      sort: {
        type: "string",
        enum: ["name", "size", "mtime"],
        default: "name",
      },
      sizes: { type: "boolean", default: false, description: "Also of folders; slow." },
      git: { type: "boolean", default: true },
    },
    additionalProperties: false,
  },
  permissions: ["file:read"],
  idempotent: true,

  effects({ path }, scope) {
    const folder = absolutePath(path, scope);
    return [folder, ...rulesAbove(folder, scope.cwd)].map((resource) => ({
      action: "file:read",
      resource,
      mode: "read",
      reversible: true,
    }));
  },

  async handler(args, ctx): Promise<ListResult> {
    const location = await locate(args.path, ctx);
    await requireFolder(location, ctx);
    const root = location.real;
    const request: WalkRequest = {
      root,
      depth: args.depth,
      limit: args.limit,
      sort: args.sort,
      showHidden: args.show_hidden,
      showIgnored: args.show_ignored,
      rules: await rulesFor(root, ctx),
      matches: args.pattern === undefined ? () => true : await globMatcher(args.pattern),
      ctx,
    };
    const [walked, status] = await Promise.all([
      walk(request),
      args.git ? gitStatus(root, ctx) : Promise.resolve(undefined),
    ]);
    const entries = await describe(walked.entries, { request, status, sizes: args.sizes });
    const truncated = !walked.complete || walked.total > walked.entries.length;
    return {
      success: true,
      status: "success",
      path: location.path,
      environment: ctx.environment.name,
      entries,
      tree: compactTree(entries, { times: args.sort === "mtime" }),
      total: walked.total,
      ...(!walked.complete && { total_is_lower_bound: true }),
      truncated,
      sort: args.sort,
      ...(walked.hidden > 0 && { hidden: walked.hidden }),
      ...(walked.ignored > 0 && { ignored: walked.ignored }),
      ...(walked.unreadable.length > 0 && { unreadable: walked.unreadable }),
      ...(status !== undefined && {
        git: { branch: status.branch, changed: status.changed, deleted: status.deleted.slice(0, 100) },
      }),
      ...(truncated && {
        hint: "There is more: list a folder below, lower depth, give a pattern or raise limit.",
      }),
    };
  },

  present: (out) => ({ model: [text(modelText(out))], human: humanText(out) }),

  examples: [
    {
      title: "See how a project is laid out",
      files: {
        "README.md": "# Demo\n",
        ".gitignore": "dist/\n",
        "src/index.ts": "export {};\n",
        "src/lib/parse.ts": "export {};\n",
        "dist/index.js": "built\n",
      },
      arguments: { path: ".", git: false },
      result: {
        tree: "src/\n  lib/\n  index.ts  11B\nREADME.md  7B",
        total: 4,
        truncated: false,
        ignored: 1,
        hidden: 1,
      },
    },
  ],
});

/** The .gitignore files between the working folder and a folder below it; they have a say in it, too. */
function rulesAbove(folder: string, cwd: string): readonly string[] {
  return placesDownTo(folder, cwd).map((place) => join(dirname(place), ".gitignore"));
}

/** `cwd/a/b`, `cwd/a`: the folder and those above it, without `cwd` itself. Nothing when it lies elsewhere. */
function placesDownTo(folder: string, cwd: string): readonly string[] {
  if (!isAtOrBelow(folder, cwd)) return [];
  const names = relative(cwd, folder).split("/").filter(Boolean);
  return names.map((_, index) => join(cwd, ...names.slice(0, names.length - index)));
}

async function rulesFor(root: string, ctx: CallContext): Promise<IgnoreRules> {
  const cwd = await ctx.environment.files.realpath(ctx.session.cwd);
  let rules = new IgnoreRules();
  for (const file of rulesAbove(root, cwd).toReversed())
    rules = await rules.with(dirname(file), ".gitignore", ctx);
  // Somebody who names an ignored folder wants to see what is in it.
  if (root !== cwd && isIgnoredPlace(rules, root, cwd)) rules = new IgnoreRules();
  return rules.with(root, ".git/info/exclude", ctx);
}

function isIgnoredPlace(rules: IgnoreRules, root: string, cwd: string): boolean {
  return placesDownTo(root, cwd).some((place) => rules.ignores(place, true));
}

async function requireFolder({ path, real }: Location, ctx: CallContext): Promise<void> {
  const stat = await ctx.environment.files.stat(real);
  if (stat === undefined) {
    const similar = await similarNames(path, ctx);
    throw new ToolError(`${path} does not exist.`, {
      code: "failed",
      hint: similar.length > 0 ? `Similar names: ${similar.join(", ")}` : "List the folder above it.",
      details: { path, similar_files: similar },
    });
  }
  if (stat.type !== "directory") {
    throw new ToolError(`${path} is not a folder.`, {
      code: "invalid_arguments",
      hint: stat.type === "file" ? "Read it with read_file." : "Name a folder.",
      details: { path },
    });
  }
}

async function describe(
  found: readonly Found[],
  options: { request: WalkRequest; status: GitStatus | undefined; sizes: boolean },
): Promise<readonly TreeEntry[]> {
  const { request, status } = options;
  const { root, ctx } = request;
  await addStats(found, request);
  const folders = found.filter(({ type }) => type === "directory").map(({ path }) => join(root, path));
  const sizes = options.sizes ? await folderSizes(folders, ctx) : undefined;
  const targets = new Map<string, string>();
  await inParallel(
    found.filter(({ type }) => type === "symlink"),
    looksAtOnce(ctx),
    async ({ path, target }) => {
      targets.set(path, await targetOf({ link: join(root, path), target }, request));
    },
  );
  return found.map(({ path, type, stat, ignored }): TreeEntry => {
    const folder = sizes?.get(join(root, path));
    const size = type === "file" ? stat?.size : folder?.bytes;
    const word = ignored ? undefined : status?.of(path);
    return {
      path,
      type,
      size,
      ...(folder?.complete === false && { size_is_lower_bound: true }),
      ...(stat !== undefined && { mtime: new Date(stat.mtimeMs).toISOString() }),
      git: word,
      ...(ignored && { ignored: true }),
      ...(type === "symlink" && { target: targets.get(path) }),
    };
  });
}

async function targetOf(
  found: { readonly link: string; readonly target: string | undefined },
  { root, ctx }: WalkRequest,
): Promise<string> {
  const target = found.target ?? (await ctx.environment.files.realpath(found.link).catch(() => undefined));
  if (target === undefined) return "?";
  return isAtOrBelow(target, root) ? relative(root, target) || "." : target;
}

function summaryOf(out: ListResult): string {
  const of = `${out.total}${out.total_is_lower_bound === true ? "+" : ""}`;
  const left = [
    ...(out.hidden === undefined ? [] : [`${out.hidden} hidden`]),
    ...(out.ignored === undefined ? [] : [`${out.ignored} ignored`]),
    ...(out.unreadable === undefined ? [] : [`${out.unreadable.length} folders could not be read`]),
  ];
  const git = out.git === undefined ? "" : `; git branch ${out.git.branch}, ${out.git.changed} changed`;
  const shown = out.truncated ? `${out.entries.length} of ${of} entries` : `${of} entries`;
  return `${shown}${left.length === 0 ? "" : ` (left out: ${left.join(", ")})`}${git}`;
}

function deletedLine(out: ListResult): string[] {
  const deleted = out.git?.deleted ?? [];
  return deleted.length === 0 ? [] : [`deleted: ${deleted.join(", ")}`];
}

function modelText(out: ListResult): string {
  return [`${out.path}: ${summaryOf(out)}`, out.tree, ...deletedLine(out), out.hint ?? ""]
    .filter((line) => line !== "")
    .join("\n");
}

function humanText(out: ListResult): string {
  const tree = drawnTree(out.entries, { times: out.sort === "mtime" });
  return [mark.path(out.path), tree, ...deletedLine(out).map(mark.removed), mark.dim(summaryOf(out))]
    .filter((line) => line !== "")
    .join("\n");
}
