import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark, markDiff } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { compareSides, MAX_TEXT_BYTES } from "./diff/compare.js";
import { compareFolders } from "./diff/folder-diff.js";
import { compareRevisions, readRevision, readRevisionPath } from "./diff/git-diff.js";
import { renderDiff } from "./diff/render.js";
import { sameBytes } from "./diff/same-bytes.js";
import { type DiffOptions, type FileDiff, type Hunk, MODES, type Mode, type Side } from "./diff/types.js";
import { statRegularFile } from "./open-text.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, type Location, locate } from "./paths.js";

interface DiffResult {
  readonly success: true;
  readonly status: "success";
  readonly environment: string;
  readonly mode: Mode;
  readonly identical: boolean;
  readonly added: number;
  readonly removed: number;
  readonly diff?: string;
  readonly files?: readonly ShownFile[];
  readonly truncated?: true;
}

interface ShownFile {
  readonly path: string;
  readonly old_path?: string | undefined;
  readonly status: FileDiff["status"];
  readonly added: number;
  readonly removed: number;
  readonly binary?: true | undefined;
  readonly note?: string | undefined;
  readonly hunks?: readonly Hunk[] | undefined;
}

export default defineTool({
  name: "file_diff",
  toolset: "files",
  emoji: "🔀",
  description:
    "Compare a (old) with b (new), each a file, folder, git revision of a file (HEAD~1:src/x.ts) or text; or " +
    "revisions of a git repository (main..HEAD, or HEAD for what has changed since).",
  parameters: {
    type: "object",
    properties: {
      a: { type: "string" },
      b: { type: "string" },
      as: {
        type: "string",
        enum: ["auto", "path", "text"],
        default: "auto",
        description: "auto: text if it has several lines.",
      },
      revisions: { type: "string", minLength: 1 },
      repo: { type: "string", default: "." },
      paths: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 100,
        description: "Only these, of revisions.",
      },
      exclude: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 100,
        description: "Globs, for folders.",
      },
      context: { type: "integer", minimum: 0, maximum: 1_000, default: 3 },
      mode: { type: "string", enum: MODES, default: "unified" },
      ignore_whitespace: { type: "boolean", default: false },
    },
    additionalProperties: false,
  },
  permissions: ["file:read"],
  idempotent: true,

  effects(args, scope) {
    const repo = absolutePath(args.repo, scope);
    const paths =
      args.revisions === undefined ? [args.a, args.b].flatMap((side) => pathsOf(side, args.as)) : [];
    const read = paths.map(({ path, inRepo }) =>
      absolutePath(path, inRepo ? { ...scope, cwd: repo } : scope),
    );
    const usesGit = args.revisions !== undefined || paths.some(({ inRepo }) => inRepo);
    return [...new Set([...read, ...(usesGit ? [repo] : [])])].map((resource) => ({
      action: "file:read",
      resource,
      mode: "read",
      reversible: true,
    }));
  },

  async handler(args, ctx): Promise<DiffResult> {
    const options = { context: args.context, ignoreWhitespace: args.ignore_whitespace };
    const files = await compare(args, options, ctx);
    const changed = files.filter(({ status }) => status !== "identical");
    const { diff, truncated } = await renderDiff(files, { mode: args.mode, signal: ctx.signal });
    const many = files.length !== 1 || args.mode === "json" || changed.some(({ note }) => note !== undefined);
    return {
      success: true,
      status: "success",
      environment: ctx.environment.name,
      mode: args.mode,
      identical: changed.length === 0,
      added: changed.reduce((sum, { added }) => sum + added, 0),
      removed: changed.reduce((sum, { removed }) => sum + removed, 0),
      ...(args.mode !== "json" && { diff }),
      ...(many && { files: changed.map((file) => shown(file, args.mode)) }),
      ...(truncated && { truncated: true }),
    };
  },

  present: (out) => ({ model: [text(modelText(out))], human: humanText(out) }),

  examples: [
    {
      title: "What differs between two files",
      files: { "old.txt": "apple\nbanana\ncherry\n", "new.txt": "apple\nblueberry\ncherry\n" },
      arguments: { a: "old.txt", b: "new.txt" },
      result: { identical: false, added: 1, removed: 1 },
    },
    {
      title: "Changed words of two texts",
      arguments: { a: "one two three\n", b: "one 2 three\n", mode: "words" },
      result: { diff: "--- a\n+++ b\n@@ -1 +1 @@\none [-two-]{+2+} three" },
    },
  ],
});

interface Args {
  readonly a?: string | undefined;
  readonly b?: string | undefined;
  readonly as: "auto" | "path" | "text";
  readonly revisions?: string | undefined;
  readonly repo: string;
  readonly paths?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

function isText(value: string, as: Args["as"]): boolean {
  return as === "text" || (as === "auto" && (value === "" || value.includes("\n")));
}

/** Where a side may lie: as named, and in the repository when it names a revision. */
function pathsOf(side: string | undefined, as: Args["as"]): { path: string; inRepo: boolean }[] {
  if (side === undefined || isText(side, as)) return [];
  const revision = readRevisionPath(side);
  return [
    { path: side, inRepo: false },
    ...(revision === undefined ? [] : [{ path: revision.path, inRepo: true }]),
  ];
}

async function compare(args: Args, options: DiffOptions, ctx: CallContext): Promise<readonly FileDiff[]> {
  if (args.revisions !== undefined) {
    const repo = await locate(args.repo, ctx);
    return compareRevisions({
      revisions: args.revisions,
      repo: repo.real,
      paths: args.paths ?? [],
      options,
      ctx,
    });
  }
  if (args.a === undefined || args.b === undefined) {
    throw new ToolError("There is nothing to compare: a and b are needed, or revisions.", {
      code: "invalid_arguments",
      hint: 'For example {"a": "old.txt", "b": "new.txt"} or {"revisions": "HEAD~1..HEAD"}.',
    });
  }
  const before = await findSide(args.a, { name: "a", args, ctx });
  const after = await findSide(args.b, { name: "b", args, ctx });
  const folders = [before, after].filter((side) => "folder" in side);
  if ("folder" in before && "folder" in after) {
    return compareFolders({
      before: before.folder.real,
      after: after.folder.real,
      exclude: args.exclude ?? [],
      options,
      ctx,
    });
  }
  if ("folder" in before || "folder" in after) {
    throw new ToolError(`${folders[0]?.label} is a folder and the other side is not.`, {
      code: "invalid_arguments",
      hint: "Compare two folders, or two files.",
    });
  }
  const path = after.label;
  if (before.large !== undefined && after.large !== undefined) {
    const same = await sameBytes(before.large.real, after.large.real, ctx);
    const note = same ? undefined : "too large to compare line by line";
    return [
      {
        path,
        status: same ? "identical" : "modified",
        added: 0,
        removed: 0,
        hunks: [],
        ...(note && { note }),
      },
    ];
  }
  const diff = await compareSides(path, { before, after, options, signal: ctx.signal });
  return [before.label === after.label ? diff : { ...diff, oldPath: before.label }];
}

type FoundSide =
  | (Side & { readonly large?: Location })
  | { readonly label: string; readonly folder: Location };

async function findSide(
  value: string,
  { name, args, ctx }: { name: string; args: Args; ctx: CallContext },
): Promise<FoundSide> {
  if (isText(value, args.as)) return { label: name, bytes: Buffer.from(value, "utf8") };
  const location = await locate(value, ctx);
  refuseDevice(location);
  const stat = await ctx.environment.files.stat(location.real);
  if (stat?.type === "directory") return { label: value, folder: location };
  const revision = stat === undefined ? readRevisionPath(value) : undefined;
  if (revision !== undefined) return revisionSide(value, { revision, repo: args.repo, ctx });
  const { size } = await statRegularFile(location, ctx);
  if (size <= MAX_TEXT_BYTES) return { label: value, bytes: await ctx.environment.files.read(location.real) };
  // Enough to see that it is too large, or binary; the rest is compared without being held.
  const bytes = await ctx.environment.files.read(location.real, { start: 0, end: MAX_TEXT_BYTES + 1 });
  return { label: value, bytes, large: location };
}

async function revisionSide(
  value: string,
  found: { revision: { revision: string; path: string }; repo: string; ctx: CallContext },
): Promise<Side> {
  const { revision, ctx } = found;
  const repo = await locate(found.repo, ctx);
  const bytes = await readRevision(revision, { repo: repo.real, ctx });
  if (bytes !== undefined) return { label: value, bytes };
  throw new ToolError(
    `There is no file ${value}, and git knows no file ${revision.path} in ${revision.revision}.`,
    {
      hint: 'Check the revision (git log --oneline) and the path, which begins at repo. Text with one line needs as: "text".',
      details: { path: revision.path, revision: revision.revision },
    },
  );
}

function shown(file: FileDiff, mode: Mode): ShownFile {
  const { path, oldPath, status, added, removed, binary, note, hunks } = file;
  return {
    path,
    ...(oldPath !== undefined && oldPath !== path && { old_path: oldPath }),
    status,
    added,
    removed,
    ...(binary && { binary }),
    note,
    ...(mode === "json" && { hunks }),
  };
}

function summaryOf(out: DiffResult): string {
  if (out.identical) return "identical";
  const files = out.files === undefined || out.files.length === 1 ? "" : `${out.files.length} files differ: `;
  return `${files}${out.added} added, ${out.removed} removed${out.truncated === true ? " (cut: compare fewer files to see the rest)" : ""}`;
}

function modelText(out: DiffResult): string {
  if (out.mode === "json") return JSON.stringify(out);
  return [summaryOf(out), out.diff ?? ""].filter((line) => line !== "").join("\n");
}

function humanText(out: DiffResult): string {
  if (out.identical) return mark.good("identical");
  const diff = out.diff ?? JSON.stringify(out.files, undefined, 2);
  const shownDiff = out.mode === "unified" ? markDiff(diff) : out.mode === "words" ? markWords(diff) : diff;
  return [shownDiff, mark.dim(summaryOf(out))].filter((line) => line !== "").join("\n");
}

function markWords(diff: string): string {
  return diff
    .replace(/\[-([\s\S]*?)-\]/g, (_whole, old: string) => mark.removed(old))
    .replace(/\{\+([\s\S]*?)\+\}/g, (_whole, now: string) => mark.added(now));
}
