import type { CallContext } from "../../../tool/tool.js";
import { SECRET_FILE_GLOBS } from "../path-guard.js";
import { RgJsonReader } from "./rg-json.js";
import { isNotRunnable, type LineRunResult, patternError, runLines } from "./run-lines.js";
import type { ContentFindings, ContentQuery, FoundLine, SearchRoot } from "./types.js";

/** Above this many matching lines the search is repeated in path order and ended early. */
const MAX_UNSORTED_MATCHES = 20_000;

/** Matching content, or undefined when ripgrep cannot run in this environment. */
export async function searchWithRipgrep(
  query: ContentQuery,
  wanted: number,
  ctx: CallContext,
): Promise<ContentFindings | undefined> {
  const program = await ripgrepProgram(ctx);
  const run = query.mode === "content" ? runContent : runCounts;
  // Parallel and unordered is twice as fast; only results too large to sort need the ordered run.
  const first = await run({ query, program, ctx, sorted: false, enough: MAX_UNSORTED_MATCHES });
  if (first === undefined || !first.stopped) return first?.findings;
  const ordered = await run({ query, program, ctx, sorted: true, enough: wanted });
  return ordered && { ...ordered.findings, atLeast: first.seen };
}

/** Every file below the root, newest first when asked; undefined when ripgrep cannot run. */
export async function listWithRipgrep(
  root: SearchRoot,
  order: "newest" | "any",
  ctx: CallContext,
): Promise<string[] | undefined> {
  const files: string[] = [];
  const result = await runLines({
    command: [
      await ripgrepProgram(ctx),
      "--no-config",
      "--no-messages",
      "--files",
      "--null",
      "--hidden",
      ...excludedGlobs(),
      ...(order === "newest" ? ["--sortr", "modified"] : []),
      "--",
      root.operand,
    ],
    cwd: root.folder,
    separator: "\0",
    ctx,
    onRecord: (path) => files.push(path.replace(/^\.\//, "")) > 0,
  });
  return isNotRunnable(result) ? undefined : files;
}

interface Run {
  readonly query: ContentQuery;
  readonly program: string;
  readonly ctx: CallContext;
  readonly sorted: boolean;
  readonly enough: number;
}

type RunOutcome =
  | { readonly findings: ContentFindings; readonly stopped: boolean; readonly seen: number }
  | undefined;

async function runContent(run: Run): Promise<RunOutcome> {
  const lines: FoundLine[] = [];
  let matches = 0;
  const reader = new RgJsonReader((file) => {
    for (const line of file) {
      lines.push(line);
      if (line.isMatch) matches++;
    }
    return matches <= run.enough;
  });
  const options = run.query.context > 0 ? ["--context", String(run.query.context)] : [];
  const result = await runLines({
    command: commandOf(run, ["--json", ...options]),
    cwd: run.query.root.folder,
    separator: "\n",
    ctx: run.ctx,
    onRecord: reader.read,
  });
  if (isNotRunnable(result)) return undefined;
  requireValidPattern(run.query, result, lines.length);
  lines.sort((left, right) => comparePaths(left.path, right.path) || left.line - right.line);
  const counts = new Map<string, number>();
  for (const { path, isMatch } of lines) if (isMatch) counts.set(path, (counts.get(path) ?? 0) + 1);
  return {
    findings: { lines, counts, ...completeness(result) },
    stopped: result.stopped,
    seen: matches,
  };
}

async function runCounts(run: Run): Promise<RunOutcome> {
  const found: [string, number][] = [];
  const counting = run.query.mode === "count";
  const result = await runLines({
    command: commandOf(
      run,
      counting ? ["--count", "--null", "--with-filename"] : ["--files-with-matches", "--null"],
    ),
    cwd: run.query.root.folder,
    // Counts come as "path NUL number newline", names as "path NUL".
    separator: counting ? "\n" : "\0",
    ctx: run.ctx,
    onRecord: (record) => {
      const [path = "", count = "1"] = record.split("\0");
      if (path !== "") found.push([path.replace(/^\.\//, ""), Number(count)]);
      return found.length <= run.enough;
    },
  });
  if (isNotRunnable(result)) return undefined;
  requireValidPattern(run.query, result, found.length);
  found.sort(([left], [right]) => comparePaths(left, right));
  return {
    findings: { lines: [], counts: new Map(found), ...completeness(result) },
    stopped: result.stopped,
    seen: found.length,
  };
}

function commandOf({ query, program, sorted }: Run, mode: readonly string[]): string[] {
  return [
    program,
    "--no-config",
    "--no-messages",
    "--hidden",
    // Look-around and back-references need the other engine; auto picks it only then.
    "--engine=auto",
    ...(spansLines(query.pattern) ? ["--multiline"] : []),
    ...(query.fileGlob === undefined ? [] : ["--glob", query.fileGlob]),
    ...excludedGlobs(),
    ...(sorted ? ["--sort", "path"] : []),
    ...mode,
    "--regexp",
    query.pattern,
    "--",
    query.root.operand,
  ];
}

/** Last, because of several globs that fit the last one wins. */
function excludedGlobs(): string[] {
  return [".git", ...SECRET_FILE_GLOBS].flatMap((glob) => ["--glob", `!${glob}`]);
}

function spansLines(pattern: string): boolean {
  return pattern.includes("\n") || /(^|[^\\])(\\\\)*\\n/.test(pattern);
}

function requireValidPattern(query: ContentQuery, result: LineRunResult, found: number): void {
  if (result.exitCode === 2 && found === 0 && result.stderr.trim() !== "") {
    throw patternError(query.pattern, result.stderr);
  }
}

function completeness(result: LineRunResult) {
  const partial = result.stopped || result.timedOut;
  const warning = result.timedOut
    ? "The search ran out of time; narrow it with path or file_glob."
    : result.oversizedRecords > 0
      ? `${result.oversizedRecords} matching line(s) of more than 8 MB are not shown.`
      : undefined;
  return warning === undefined ? { partial } : { partial, warning };
}

export function comparePaths(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

async function ripgrepProgram(ctx: CallContext): Promise<string> {
  const configured = ctx.settings.ripgrep_path;
  if (typeof configured === "string" && configured !== "") return configured;
  if (ctx.environment.kind !== "local") return "rg";
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    // No prebuilt program for this platform: perhaps one is installed.
    return "rg";
  }
}
