import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { nameGlobs } from "./globs.js";
import { filesOfPage, totalOf } from "./pages.js";
import { foundLine, RgJsonReader, recordsAround } from "./rg-json.js";
import { isNotRunnable, type LineRunResult, patternError, runLines } from "./run-lines.js";
import {
  type Completeness,
  type ContentFindings,
  type ContentQuery,
  comparePaths,
  type FileCount,
  type SearchRoot,
} from "./types.js";
import { SECRET_FILE_GLOBS } from "./visibility.js";

/** Up to here what ripgrep says of each match is kept until it is known which of them are shown. */
const MAX_KEPT_MATCHES = 20_000;
/** Above this, counting all over again is cheaper than reading on. */
const MAX_DESCRIBED_MATCHES = 100_000;

interface CountedFile extends FileCount {
  readonly records?: readonly string[];
}

/** Matching content, or undefined when ripgrep cannot run in this environment. */
export async function searchWithRipgrep(
  query: ContentQuery,
  ctx: CallContext,
): Promise<ContentFindings | undefined> {
  const program = await ripgrepProgram(ctx);
  if (query.mode !== "content") {
    const counted = await countFiles({ query, program, ctx });
    return counted && { ...counted, lines: [], skipped: 0 };
  }
  const described = await describeMatches({ query, program, ctx });
  const counted = described?.stopped === true ? await countFiles({ query, program, ctx }) : described;
  if (counted === undefined) return undefined;
  const { counts, ...completeness } = counted;
  const { files, skipped } = filesOfPage(counts, query.page);
  const records = await recordsOf(files, { query, program, ctx });
  const first = query.page.offset - skipped;
  const shown = recordsAround(records, { first, count: query.page.limit, context: query.context });
  return {
    counts,
    lines: shown.records.map(foundLine),
    skipped: skipped + shown.skipped,
    partial: completeness.partial,
    ...warningOf(completeness),
  };
}

interface Run {
  readonly query: ContentQuery;
  readonly program: string;
  readonly ctx: CallContext;
}

type Counted = Completeness & { readonly counts: CountedFile[]; readonly stopped?: boolean };

async function describeMatches(run: Run): Promise<Counted | undefined> {
  const { query, ctx } = run;
  const counts: CountedFile[] = [];
  let matches = 0;
  const reader = new RgJsonReader((file) => {
    if (!query.accepts(file.path)) return true;
    matches += file.matches;
    const kept = matches <= MAX_KEPT_MATCHES && { records: file.records };
    counts.push({ path: file.path, count: file.matches, ...kept });
    return matches <= MAX_DESCRIBED_MATCHES;
  });
  const result = await runLines({
    command: [...searchCommand(run), ...describing(query), ...patternAnd(query, [query.root.operand])],
    cwd: query.root.folder,
    separator: "\n",
    ctx,
    onRecord: reader.read,
  });
  return finish({ query, result, counts });
}

/** What ripgrep says of the lines of some files; asked again where it was too much to keep. */
async function recordsOf(files: readonly CountedFile[], { query, program, ctx }: Run): Promise<string[]> {
  const missing = files.filter((file) => file.records === undefined);
  const asked = new Map<string, readonly string[]>();
  const reader = new RgJsonReader((file) => asked.set(file.path, file.records).size > 0);
  if (missing.length > 0) {
    const operands = missing.map(({ path }) => `./${path}`);
    await runLines({
      command: [
        program,
        ...COMMON,
        ...multiline(query),
        ...describing(query),
        ...patternAnd(query, operands),
      ],
      cwd: query.root.folder,
      separator: "\n",
      ctx,
      onRecord: reader.read,
    });
  }
  return files.flatMap((file) => file.records ?? asked.get(file.path) ?? []);
}

async function countFiles(run: Run): Promise<Counted | undefined> {
  const { query, ctx } = run;
  const counts: CountedFile[] = [];
  const counting = query.mode !== "files_only";
  const mode = counting ? ["--count", "--null", "--with-filename"] : ["--files-with-matches", "--null"];
  const result = await runLines({
    command: [...searchCommand(run), ...mode, ...patternAnd(query, [query.root.operand])],
    cwd: query.root.folder,
    // Counts come as "path NUL number newline", names as "path NUL".
    separator: counting ? "\n" : "\0",
    ctx,
    onRecord: (record) => {
      const [name = "", count = "1"] = record.split("\0");
      const path = withoutDot(name);
      if (path !== "" && query.accepts(path)) counts.push({ path, count: Number(count) });
      return true;
    },
  });
  return finish({ query, result, counts });
}

function finish(run: {
  readonly query: ContentQuery;
  readonly result: LineRunResult;
  readonly counts: CountedFile[];
}): Counted | undefined {
  const { query, result, counts } = run;
  if (isNotRunnable(result)) return undefined;
  if (result.exitCode === 2 && counts.length === 0 && result.stderr.trim() !== "") {
    throw /glob/.test(result.stderr) ? globError(result.stderr) : patternError(query.pattern, result.stderr);
  }
  counts.sort((left, right) => comparePaths(left.path, right.path));
  const warning = result.timedOut
    ? `The search ran out of time after ${totalOf(counts)} matches; narrow it with path or file_glob.`
    : result.oversizedRecords > 0
      ? `${result.oversizedRecords} matching line(s) of more than 8 MB are not shown.`
      : undefined;
  return { counts, stopped: result.stopped, partial: result.timedOut, ...warningOf({ warning }) };
}

function warningOf({ warning }: { readonly warning?: string | undefined }): { readonly warning?: string } {
  return warning === undefined ? {} : { warning };
}

export interface Listing {
  readonly root: SearchRoot;
  readonly order: "newest" | "any";
  /** Narrows the list to file names; more may come, never fewer. */
  readonly glob?: string | undefined;
  readonly ctx: CallContext;
  onFile(path: string): void;
}

/** Tells of every file below the root; false when ripgrep cannot run. */
export async function listWithRipgrep({ root, order, glob, ctx, onFile }: Listing): Promise<boolean> {
  const result = await runLines({
    command: [
      await ripgrepProgram(ctx),
      ...COMMON,
      "--files",
      "--null",
      ...EXCLUDED,
      ...typeOptions(glob),
      ...(order === "newest" ? ["--sortr", "modified"] : []),
      "--",
      root.operand,
    ],
    cwd: root.folder,
    separator: "\0",
    ctx,
    onRecord: (record) => {
      onFile(withoutDot(record));
      return true;
    },
  });
  if (result.exitCode === 2 && /glob/.test(result.stderr)) throw globError(result.stderr);
  return !isNotRunnable(result);
}

const COMMON = ["--no-config", "--no-messages", "--hidden"];
/** Globs that only exclude do not touch what ignore files say. */
const EXCLUDED = [".git", ...SECRET_FILE_GLOBS].flatMap((glob) => ["--glob", `!${glob}`]);

function searchCommand({ query, program }: Run): string[] {
  return [program, ...COMMON, ...multiline(query), ...typeOptions(query.fileGlob), ...EXCLUDED];
}

function describing({ context }: ContentQuery): string[] {
  return ["--json", ...(context > 0 ? ["--context", String(context)] : [])];
}

function patternAnd({ pattern }: ContentQuery, operands: readonly string[]): string[] {
  // Look-around and back-references need the other engine; auto picks it only then.
  return ["--engine=auto", "--regexp", pattern, "--", ...operands];
}

function multiline({ pattern }: ContentQuery): string[] {
  return pattern.includes("\n") || /(^|[^\\])(\\\\)*\\n/.test(pattern) ? ["--multiline"] : [];
}

/** As a file type: a glob option would also find files that git ignores. */
function typeOptions(glob: string | undefined): string[] {
  const names = glob === undefined ? undefined : nameGlobs(glob);
  if (names === undefined) return [];
  return [...names.flatMap((name) => ["--type-add", `wanted:${name}`]), "--type", "wanted"];
}

function globError(stderr: string): ToolError {
  return new ToolError(`The glob is not valid: ${stderr.replace(/^rg: /gm, "").trim().slice(0, 300)}`, {
    code: "invalid_arguments",
    hint: "Use *, ?, ** and {a,b}, e.g. *.{ts,tsx} or src/**/*.py.",
  });
}

function withoutDot(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
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
