import { join } from "node:path/posix";
import { judgePlace } from "../../../places/judge-place.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { GitAnswer } from "../../files/git-program.js";
import { homesOf } from "../../files/path-guard.js";
import type { GitArguments } from "./arguments.js";
import {
  type BlamedLine,
  type ChangedFile,
  COMMIT_FORMAT,
  type Commit,
  type GitStatus,
  readBlame,
  readCommits,
  readNumstat,
  readStatus,
} from "./parse.js";
import { askGit } from "./run.js";

const MAX_FILES = 2_000;
const MAX_DIFF_CHARS = 60_000;
const MAX_BLAMED = 2_000;

export interface Place {
  /** Real path of the folder that was named. */
  readonly folder: string;
  readonly ctx: CallContext;
  /** What a boundary around commands must open for changes, besides the workspace. */
  readonly writable?: readonly string[] | undefined;
}

export interface StatusAnswer extends GitStatus {
  readonly total_files: number;
  readonly truncated: boolean;
}

export async function status(args: Pick<GitArguments, "paths">, place: Place): Promise<StatusAnswer> {
  const { output, truncated } = await askGit({
    ...place,
    words: [
      "status",
      "--porcelain=v2",
      "--branch",
      "-z",
      "--ignore-submodules=dirty",
      "--",
      ...(args.paths ?? []),
    ],
    readsFiles: true,
  });
  const found = readStatus(output);
  return {
    ...found,
    files: found.files.slice(0, MAX_FILES),
    total_files: found.files.length,
    truncated: truncated || found.files.length > MAX_FILES,
  };
}

export async function log(args: GitArguments, place: Place) {
  const { ref, branch, paths = [], limit } = args;
  const { output } = await askGit({
    ...place,
    words: [
      "log",
      "-z",
      "--no-show-signature",
      COMMIT_FORMAT,
      `--max-count=${limit + 1}`,
      ...(args.all === true ? ["--all"] : []),
      ...(ref === undefined && branch === undefined ? [] : [ref ?? branch ?? ""]),
      "--",
      ...paths,
    ],
  }).catch((error: unknown) => {
    if (/does not have any commits yet/.test(String(error))) return { output: "" };
    throw error;
  });
  const commits = readCommits(output);
  return { commits: commits.slice(0, limit), truncated: commits.length > limit };
}

const DIFF = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--find-renames",
  "--submodule=short",
  "--ignore-submodules=dirty",
];

/** What a commit changed, a merge seen from its first parent. */
const SHOW = ["show", "--format=", "--no-show-signature", "-m", "--first-parent"];

export interface DiffAnswer {
  readonly files: readonly ChangedFile[];
  readonly added: number;
  readonly removed: number;
  readonly diff: string;
  readonly truncated: boolean;
  readonly note?: string | undefined;
}

export async function diff(args: GitArguments, place: Place): Promise<DiffAnswer> {
  const { ref, branch, staged, paths = [] } = args;
  const rest = [
    ...(staged === true ? ["--cached"] : []),
    ...(ref === undefined && branch === undefined ? [] : [ref ?? branch ?? ""]),
    "--",
    ...paths,
  ];
  const ask = (...shape: string[]) =>
    askGit({ ...place, words: ["diff", ...DIFF, ...shape, ...rest], readsFiles: true });
  return changes({ numstat: await ask("--numstat", "-z"), patch: await ask() }, place);
}

async function changes(
  { numstat, patch }: { readonly numstat: GitAnswer; readonly patch: GitAnswer },
  place: Place,
): Promise<DiffAnswer> {
  const files = readNumstat(numstat.output);
  const shown = withoutSecrets({ patch: patch.output, files }, { top: await topOf(place), ctx: place.ctx });
  return {
    files: files.slice(0, MAX_FILES),
    added: files.reduce((sum, file) => sum + file.added, 0),
    removed: files.reduce((sum, file) => sum + file.removed, 0),
    diff: shown.text.slice(0, MAX_DIFF_CHARS),
    truncated: patch.truncated || shown.text.length > MAX_DIFF_CHARS || files.length > MAX_FILES,
    ...(shown.note !== undefined && { note: shown.note }),
  };
}

/** What may not be read as a file is not shown as a difference either. */
function withoutSecrets(
  { patch, files }: { readonly patch: string; readonly files: readonly ChangedFile[] },
  place: { readonly top: string; readonly ctx: CallContext },
): { readonly text: string; readonly note?: string } {
  const hidden = files.map(({ path }) => isHidden(join(place.top, path), place.ctx));
  if (!hidden.includes(true)) return { text: patch };
  const names = files.filter((_, index) => hidden[index]).map(({ path }) => path);
  const note = `not shown, because they hold credentials: ${names.slice(0, 10).join(", ")}`;
  const sections = patch.split(/^(?=diff --(?:git|cc|combined) )/m).filter((section) => section !== "");
  // Which part belongs to which file is only certain when there is one for each.
  if (sections.length !== files.length) return { text: "", note: `${note}; the rest: ask with other paths` };
  return { text: sections.filter((_, index) => hidden[index] !== true).join(""), note };
}

function isHidden(path: string, ctx: CallContext): boolean {
  return judgePlace({ path, operation: "read", ...homesOf(ctx) }).verdict !== "allow";
}

async function refuseSecret(path: string, place: Place): Promise<void> {
  if (!isHidden(join(await topOf(place), path), place.ctx)) return;
  throw new ToolError(`${path} holds credentials and is not shown.`, {
    code: "denied",
    hint: "If the person wants it read, read_file asks them.",
  });
}

export async function topOf({ folder, ctx }: Place): Promise<string> {
  const { output } = await askGit({ folder, ctx, words: ["rev-parse", "--show-toplevel"] }).catch(
    // A bare repository has no files.
    async (error: unknown) => {
      if (!/must be run in a work tree/.test(String(error))) throw error;
      return askGit({ folder, ctx, words: ["rev-parse", "--absolute-git-dir"] });
    },
  );
  return output.replace(/\n$/, "");
}

export async function show(args: GitArguments, place: Place) {
  const ref = args.ref ?? args.tag ?? args.branch ?? "HEAD";
  const file = /^[^:]*:(?:\.\/)?(.+)$/.exec(ref)?.[1];
  if (file !== undefined) {
    await refuseSecret(file, place);
    const { output, truncated } = await askGit({ ...place, words: ["show", "--no-textconv", ref, "--"] });
    return {
      ref,
      path: file,
      content: output.slice(0, MAX_DIFF_CHARS),
      truncated: truncated || output.length > MAX_DIFF_CHARS,
    };
  }
  const rest = [`${ref}^{commit}`, "--", ...(args.paths ?? [])];
  const about = await askGit({
    ...place,
    words: ["log", "-z", "--no-show-signature", COMMIT_FORMAT, "--max-count=1", ...rest.slice(0, 2)],
  });
  const [commit] = readCommits(about.output);
  if (commit === undefined)
    throw new ToolError(`${ref} is no commit.`, { code: "not_found", hint: "log lists commits." });
  const ask = (...shape: string[]) => askGit({ ...place, words: [...SHOW, ...DIFF, ...shape, ...rest] });
  return { commit, ...(await changes({ numstat: await ask("--numstat", "-z"), patch: await ask() }, place)) };
}

export async function blame(
  args: GitArguments,
  place: Place,
): Promise<{ path: string; lines: readonly BlamedLine[]; truncated: boolean }> {
  const [path = ""] = args.paths ?? [];
  await refuseSecret(path, place);
  const { output, truncated } = await askGit({
    ...place,
    words: [
      "blame",
      "--line-porcelain",
      "--no-textconv",
      ...(args.lines === undefined ? [] : ["-L", args.lines.replace("-", ",")]),
      ...(args.ref === undefined ? [] : [args.ref]),
      "--",
      path,
    ],
    readsFiles: true,
  });
  const lines = readBlame(output);
  return { path, lines: lines.slice(0, MAX_BLAMED), truncated: truncated || lines.length > MAX_BLAMED };
}

export async function lastCommit(place: Place): Promise<Commit & Omit<DiffAnswer, "diff" | "note">> {
  const words = ["-z", "--no-show-signature", "--max-count=1", "HEAD", "--"];
  const about = await askGit({ ...place, words: ["log", COMMIT_FORMAT, ...words] });
  const [commit] = readCommits(about.output);
  if (commit === undefined) throw new ToolError("There is no commit yet.", { code: "not_found" });
  const stat = await askGit({
    ...place,
    words: [...SHOW, ...DIFF, "--numstat", "-z", "HEAD", "--"],
  });
  const files = readNumstat(stat.output);
  return {
    ...commit,
    files: files.slice(0, MAX_FILES),
    added: files.reduce((sum, file) => sum + file.added, 0),
    removed: files.reduce((sum, file) => sum + file.removed, 0),
    truncated: files.length > MAX_FILES,
  };
}
