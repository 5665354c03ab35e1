import { basename, extname } from "node:path";
import type { Diagnostic as RuffFinding } from "@astral-sh/ruff-wasm-nodejs";
import type { ParserOptions } from "prettier";
import { messageOf } from "../../base/errno.js";
import type { CallContext } from "../../tool/tool.js";

const NODE_TIMEOUT_MS = 10_000;
/** Larger files are written without a look at their syntax: a check must not take longer than the write. */
const MAX_CHECKED_CHARS = 512 * 1024;
/** Files that look like JSON by name and allow comments by custom. */
const JSON_WITH_COMMENTS =
  /^(tsconfig|jsconfig|devcontainer|\.eslintrc|\.babelrc|settings|launch|tasks)[^/]*\.json$/i;

export interface SyntaxIssue {
  readonly line: number | undefined;
  readonly message: string;
}

export interface LintReport {
  readonly checker: string;
  readonly status: "ok" | "error";
  /** Only what this edit brought in. */
  readonly errors?: readonly string[];
  /** Problems that were there before the edit. */
  readonly errors_before?: number;
}

interface Checker {
  readonly name: string;
  /** undefined = this environment cannot run the check. */
  check(text: string): Promise<readonly SyntaxIssue[] | undefined>;
}

/** Syntax errors that an edit brought into a file; undefined when nothing can check this kind of file. */
export async function lintEdit(edit: {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  readonly ctx: CallContext;
}): Promise<LintReport | undefined> {
  const checker = edit.after.length > MAX_CHECKED_CHARS ? undefined : checkerFor(edit.path, edit.ctx);
  const issues = await checker?.check(edit.after);
  if (checker === undefined || issues === undefined) return undefined;
  if (issues.length === 0) return { checker: checker.name, status: "ok" };
  const { before: oldText } = edit;
  const comparable = oldText !== undefined && oldText.length <= MAX_CHECKED_CHARS;
  const old = comparable ? ((await checker.check(oldText)) ?? []) : [];
  const known = old.map((issue) => issue.message);
  const fresh = issues.filter((issue) => {
    const index = known.indexOf(issue.message);
    if (index !== -1) known.splice(index, 1);
    return index === -1;
  });
  const before = issues.length - fresh.length;
  return {
    checker: checker.name,
    status: fresh.length > 0 ? "error" : "ok",
    ...(fresh.length > 0 && { errors: fresh.map(describe) }),
    ...(before > 0 && { errors_before: before }),
  };
}

/** Whether the old text of such a file is needed to tell new errors from old ones. */
export function isChecked(path: string): boolean {
  return CHECKED.test(path);
}

const CHECKED = /\.(json|ya?ml|[cm]?[jt]s|[jt]sx|pyi?)$/i;

function describe({ line, message }: SyntaxIssue): string {
  return line === undefined ? message : `line ${line}: ${message}`;
}

function checkerFor(path: string, ctx: CallContext): Checker | undefined {
  switch (extname(path).toLowerCase()) {
    case ".json":
      return JSON_WITH_COMMENTS.test(basename(path)) ? undefined : { name: "json", check: checkJson };
    case ".yaml":
    case ".yml":
      return { name: "yaml", check: checkYaml };
    case ".mjs":
      return { name: "node --check", check: (text) => checkScript(text, ["module"], ctx) };
    case ".cjs":
      return { name: "node --check", check: (text) => checkScript(text, ["commonjs"], ctx) };
    case ".js":
      return { name: "node --check", check: (text) => checkScript(text, ["module", "commonjs"], ctx) };
    case ".jsx":
      return { name: "babel", check: (text) => checkTyped(text, "babel") };
    case ".ts":
    case ".tsx":
    case ".mts":
    case ".cts":
      return { name: "babel-ts", check: (text) => checkTyped(text, "babel-ts") };
    case ".py":
    case ".pyi":
      return { name: "ruff", check: checkPython };
    default:
      return undefined;
  }
}

async function checkJson(text: string): Promise<readonly SyntaxIssue[]> {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
    return [];
  } catch (error) {
    const message = messageOf(error);
    const position = /position (\d+)/.exec(message)?.[1];
    const line = position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length;
    return [{ line, message: message.replace(/ (in JSON )?at position .*$/s, "") }];
  }
}

async function checkYaml(text: string): Promise<readonly SyntaxIssue[]> {
  const { parseAllDocuments, LineCounter } = await import("yaml");
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, logLevel: "silent" });
  const list = Array.isArray(documents) ? documents : [];
  return list.flatMap((document) =>
    document.errors.map((error) => ({
      line: lineCounter.linePos(error.pos[0]).line,
      message: error.message,
    })),
  );
}

/** Errors of syntax alone: what else a linter finds is not this edit's business. */
async function checkPython(text: string): Promise<readonly SyntaxIssue[]> {
  const { PositionEncoding, Workspace } = await import("@astral-sh/ruff-wasm-nodejs");
  const workspace = new Workspace({ lint: { select: [] } }, PositionEncoding.Utf16);
  try {
    const findings: readonly RuffFinding[] = workspace.check(text);
    return findings
      .filter(({ code }) => code === null || code === "invalid-syntax")
      .map(({ message, start_location: { row } }) => ({ line: row, message: `SyntaxError: ${message}` }));
  } finally {
    workspace.free();
  }
}

/** By the parser of a formatter: it knows types and JSX, and stops at the first error. */
async function checkTyped(text: string, parser: "babel" | "babel-ts"): Promise<readonly SyntaxIssue[]> {
  const { parsers } = await import("prettier/plugins/babel");
  try {
    // It looks at the options only to guess from a file name whether tags are allowed; it tries both anyway.
    await parsers[parser].parse(text, {} as ParserOptions);
    return [];
  } catch (error) {
    const { message = String(error), loc } = error as {
      message?: string;
      loc?: { start?: { line?: number } };
    };
    return [{ line: loc?.start?.line, message: `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, "")}` }];
  }
}

/** Valid in one of the kinds is valid: the extension .js does not say which of the two it is. */
async function checkScript(
  text: string,
  kinds: readonly ("module" | "commonjs")[],
  ctx: CallContext,
): Promise<readonly SyntaxIssue[] | undefined> {
  const program = ctx.environment.kind === "local" ? process.execPath : "node";
  let first: SyntaxIssue | undefined;
  for (const kind of kinds) {
    const { exitCode, stderr, timedOut, cancelled } = await ctx.environment.exec({
      // By stdin and with its kind named, because for a file of unclear kind Node checks nothing.
      command: [program, `--input-type=${kind}`, "--check", "-"],
      cwd: ctx.session.cwd,
      stdin: text,
      timeoutMs: NODE_TIMEOUT_MS,
      signal: ctx.signal,
      separateStderr: true,
      maxOutputChars: 20_000,
    });
    if (exitCode === 0) return [];
    const message = /^(\w*Error: .*)$/m.exec(stderr)?.[1];
    if (timedOut || cancelled || message === undefined) return undefined;
    const line = /^\[stdin\]:(\d+)$/m.exec(stderr)?.[1];
    first ??= { line: line === undefined ? undefined : Number(line), message };
  }
  return first === undefined ? undefined : [first];
}
