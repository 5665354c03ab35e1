import { basename, extname } from "node:path";
import type { CallContext } from "../../tool/tool.js";

const NODE_TIMEOUT_MS = 10_000;
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
  const checker = checkerFor(edit.path, edit.ctx);
  const issues = await checker?.check(edit.after);
  if (checker === undefined || issues === undefined) return undefined;
  if (issues.length === 0) return { checker: checker.name, status: "ok" };
  const old = edit.before === undefined ? [] : ((await checker.check(edit.before)) ?? []);
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
    default:
      return undefined;
  }
}

async function checkJson(text: string): Promise<readonly SyntaxIssue[]> {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
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
