import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { posixPattern } from "./posix-pattern.js";
import { isNotRunnable, type LineRunResult, patternError, runLines } from "./run-lines.js";
import { shorten } from "./shown-line.js";
import { isSmallGrep, runSmallGrep } from "./small-grep.js";
import {
  type ContentFindings,
  type ContentQuery,
  comparePaths,
  type FoundLine,
  type SearchRoot,
} from "./types.js";
import { SECRET_FILE_GLOBS } from "./visibility.js";

/** Above this many matches grep is ended; what was found so far is the answer. */
const MAX_MATCHES = 20_000;

/** The same search with grep, for environments without ripgrep. It does not know .gitignore. */
export async function searchWithGrep(query: ContentQuery, ctx: CallContext): Promise<ContentFindings> {
  const { result, lines } = await runSomeGrep(query, ctx);
  if (isNotRunnable(result) || isSmallGrep(result)) throw nothingToSearchWith(ctx);
  if (result.exitCode === 2 && lines.length === 0 && result.stderr.trim() !== "") {
    throw patternError(query.pattern, result.stderr);
  }
  lines.sort((left, right) => comparePaths(left.path, right.path) || left.line - right.line);
  const counts = new Map<string, number>();
  for (const { path, isMatch } of lines) if (isMatch) counts.set(path, (counts.get(path) ?? 0) + 1);
  return {
    lines: query.mode === "content" ? lines : [],
    counts: [...counts].map(([path, count]) => ({ path, count })),
    skipped: 0,
    partial: result.stopped || result.timedOut,
    warning: "Searched with grep: ignored files are included. Install ripgrep for faster, cleaner results.",
  };
}

interface GrepRun {
  readonly result: LineRunResult;
  readonly lines: FoundLine[];
}

async function runSomeGrep(query: ContentQuery, ctx: CallContext): Promise<GrepRun> {
  const perl = await runGrep(query, "-P", ctx);
  if (isSmallGrep(perl.result)) {
    const lines: FoundLine[] = [];
    const result = await runSmallGrep(query, ctx, (line) => lines.push(line) <= MAX_MATCHES);
    return { result, lines };
  }
  const unsupported = perl.result.exitCode === 2 && /-P|perl/i.test(perl.result.stderr);
  const { result, lines } = unsupported ? await runGrep(query, "-E", ctx) : perl;
  const binary = await binaryFiles([...new Set(lines.map((line) => line.path))], query.root, ctx);
  return { result, lines: lines.filter((line) => !binary.has(line.path)) };
}

const NAMES_PER_RUN = 400;

/** grep judges a file by its beginning only; a NUL anywhere makes it binary here as it does for ripgrep. */
async function binaryFiles(
  paths: readonly string[],
  root: SearchRoot,
  ctx: CallContext,
): Promise<ReadonlySet<string>> {
  const binary = new Set<string>();
  for (let start = 0; start < paths.length; start += NAMES_PER_RUN) {
    const names = paths.slice(start, start + NAMES_PER_RUN).map((path) => `./${path}`);
    await runLines({
      command: ["grep", "-slaZP", "\\x00", "--", ...names],
      cwd: root.folder,
      separator: "\0",
      ctx,
      onRecord: (name) => binary.add(name.replace(/^\.\//, "")).size > 0,
    });
  }
  return binary;
}

async function runGrep(query: ContentQuery, dialect: "-P" | "-E", ctx: CallContext): Promise<GrepRun> {
  const lines: FoundLine[] = [];
  let current = "";
  let wanted = false;
  const result = await runLines({
    command: [
      "grep",
      "-rIsnHZ",
      dialect,
      "--exclude-dir=.git",
      ...SECRET_FILE_GLOBS.map((glob) => `--exclude=${glob}`),
      ...(query.context > 0 && query.mode === "content" ? ["-C", String(query.context)] : []),
      "-e",
      dialect === "-P" ? query.pattern : posixPattern(query.pattern),
      "--",
      query.root.operand,
    ],
    cwd: query.root.folder,
    separator: "\n",
    ctx,
    onRecord: (record) => {
      const [, name, number, mark, text = ""] = /^([^\0]+)\0(\d+)([:-])(.*)$/s.exec(record) ?? [];
      if (name === undefined) return true;
      const path = pathOf(name);
      if (path !== current) wanted = query.accepts(path);
      current = path;
      if (wanted) {
        lines.push({ path, line: Number(number), isMatch: mark === ":", ...shorten(text, []) });
      }
      return lines.length <= MAX_MATCHES;
    },
  });
  return { result, lines };
}

/** Every file below the root by `find`; newest first where the programs there can tell. */
export async function listWithFind(
  root: SearchRoot,
  ctx: CallContext,
): Promise<{ readonly files: string[]; readonly dated: boolean }> {
  const below = [root.operand, "-name", ".git", "-prune", "-o", "-type", "f"];
  const ways = [
    { options: [...below, "-printf", "%T@\t%p\\0"], separator: "\0" },
    { options: [...below, "-exec", "stat", "-c", "%Y\t%n", "{}", "+"], separator: "\n" },
  ] as const;
  for (const way of ways) {
    const { result, records } = await runFind({ ...way, root, ctx });
    if (isNotRunnable(result)) throw nothingToSearchWith(ctx);
    if (result.exitCode !== 0 && records.length === 0) continue;
    const files = records
      .map((record) => ({
        time: Number.parseFloat(record),
        path: pathOf(record.slice(record.indexOf("\t") + 1)),
      }))
      .sort((left, right) => right.time - left.time || comparePaths(left.path, right.path))
      .map(({ path }) => path);
    return { files, dated: true };
  }
  const plain = await runFind({ options: [...below, "-print0"], separator: "\0", root, ctx });
  return { files: plain.records.map(pathOf).sort(comparePaths), dated: false };
}

function pathOf(name: string): string {
  return name.replace(/^\.\//, "");
}

async function runFind(find: {
  readonly options: readonly string[];
  readonly separator: "\0" | "\n";
  readonly root: SearchRoot;
  readonly ctx: CallContext;
}): Promise<{ readonly result: LineRunResult; readonly records: string[] }> {
  const records: string[] = [];
  const result = await runLines({
    command: ["find", ...find.options],
    cwd: find.root.folder,
    separator: find.separator,
    ctx: find.ctx,
    // Complaints arrive in between; what was asked for begins with its time or with the operand.
    onRecord: (record) => (/^(?:\d+(?:\.\d+)?\t)?\.\//.test(record) ? records.push(record) > 0 : true),
  });
  return { result, records };
}

function nothingToSearchWith(ctx: CallContext): ToolError {
  return new ToolError(`Neither ripgrep nor grep and find can run in ${ctx.environment.name}.`, {
    code: "unavailable",
    hint: "Install ripgrep there (for example: apt-get install ripgrep, apk add ripgrep).",
  });
}
