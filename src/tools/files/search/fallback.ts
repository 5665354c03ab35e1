import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { SECRET_FILE_GLOBS } from "../path-guard.js";
import { globMatcher } from "./globs.js";
import { shorten } from "./rg-json.js";
import { comparePaths } from "./ripgrep.js";
import { isNotRunnable, type LineRunResult, patternError, runLines } from "./run-lines.js";
import type { ContentFindings, ContentQuery, FoundLine, SearchRoot } from "./types.js";

/** Above this many matches grep is ended; what was found so far is the answer. */
const MAX_MATCHES = 20_000;

/** The same search with GNU grep, for environments without ripgrep. It does not know .gitignore. */
export async function searchWithGrep(query: ContentQuery, ctx: CallContext): Promise<ContentFindings> {
  const perl = await runGrep(query, "-P", ctx);
  const unsupported = perl.result.exitCode === 2 && /-P|perl/i.test(perl.result.stderr);
  const { result, lines: found } = unsupported ? await runGrep(query, "-E", ctx) : perl;
  if (isNotRunnable(result) || isSmallGrep(result)) throw nothingToSearchWith(ctx);
  if (result.exitCode === 2 && found.length === 0 && result.stderr.trim() !== "") {
    throw patternError(query.pattern, result.stderr);
  }
  const binary = await binaryFiles([...new Set(found.map((line) => line.path))], query.root, ctx);
  const lines = found.filter((line) => !binary.has(line.path));
  lines.sort((left, right) => comparePaths(left.path, right.path) || left.line - right.line);
  const counts = new Map<string, number>();
  for (const { path, isMatch } of lines) if (isMatch) counts.set(path, (counts.get(path) ?? 0) + 1);
  return {
    lines: query.mode === "content" ? lines : [],
    counts,
    partial: result.stopped || result.timedOut,
    warning: "Searched with grep: ignored files are included. Install ripgrep for faster, cleaner results.",
  };
}

/** busybox and its like have a grep that lacks the options needed here. */
function isSmallGrep({ exitCode, stderr }: LineRunResult): boolean {
  return exitCode !== 0 && /busybox|(?:invalid|unrecognized|unknown|illegal) option/i.test(stderr);
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

async function runGrep(
  query: ContentQuery,
  dialect: "-P" | "-E",
  ctx: CallContext,
): Promise<{ result: LineRunResult; lines: FoundLine[] }> {
  const lines: FoundLine[] = [];
  const accepts = query.fileGlob === undefined ? () => true : await globMatcher(query.fileGlob);
  const result = await runLines({
    command: [
      "grep",
      "-rIsnHZ",
      dialect,
      "--exclude-dir=.git",
      ...SECRET_FILE_GLOBS.map((glob) => `--exclude=${glob}`),
      ...(query.context > 0 && query.mode === "content" ? ["-C", String(query.context)] : []),
      "-e",
      query.pattern,
      "--",
      query.root.operand,
    ],
    cwd: query.root.folder,
    separator: "\n",
    ctx,
    onRecord: (record) => {
      const [, name, number, mark, text = ""] = /^([^\0]+)\0(\d+)([:-])(.*)$/s.exec(record) ?? [];
      if (name === undefined) return true;
      const path = name.replace(/^\.\//, "");
      if (accepts(path)) {
        lines.push({ path, line: Number(number), text: shorten(text, 0), isMatch: mark === ":" });
      }
      return lines.length <= MAX_MATCHES;
    },
  });
  return { result, lines };
}

/** Every file below the root by `find`, newest first where it can tell. */
export async function listWithFind(root: SearchRoot, ctx: CallContext): Promise<string[]> {
  const prune = [root.operand, "-name", ".git", "-prune", "-o", "-type", "f"];
  const dated = await runFind(root, [...prune, "-printf", "%T@\t%p\\0"], ctx);
  if (isNotRunnable(dated.result)) throw nothingToSearchWith(ctx);
  if (dated.result.exitCode === 0 || dated.records.length > 0) {
    return dated.records
      .map((record) => ({ time: Number.parseFloat(record), path: record.slice(record.indexOf("\t") + 1) }))
      .sort((left, right) => right.time - left.time)
      .map(({ path }) => path.replace(/^\.\//, ""));
  }
  const plain = await runFind(root, [...prune, "-print0"], ctx);
  return plain.records.map((path) => path.replace(/^\.\//, "")).sort(comparePaths);
}

async function runFind(root: SearchRoot, options: readonly string[], ctx: CallContext) {
  const records: string[] = [];
  const result = await runLines({
    command: ["find", ...options],
    cwd: root.folder,
    separator: "\0",
    ctx,
    onRecord: (record) => records.push(record) > 0,
  });
  return { result, records };
}

function nothingToSearchWith(ctx: CallContext): ToolError {
  return new ToolError(`Neither ripgrep nor GNU grep and find can run in ${ctx.environment.name}.`, {
    code: "unavailable",
    hint: "Install ripgrep there (for example: apt-get install ripgrep, apk add ripgrep), or use grep in the terminal.",
  });
}
