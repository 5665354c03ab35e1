import type { Diagnostic as RuffFinding } from "@astral-sh/ruff-wasm-nodejs";
import { messageOf } from "../../../base/errno.js";
import type { Source } from "../project/sources.js";
import type { Diagnostic } from "./diagnostic.js";

/** What can be found without any program of the project: Python rules, and syntax errors of some languages. */
export async function lintBundled(source: Source): Promise<readonly Diagnostic[] | undefined> {
  switch (source.language) {
    case "python":
      return lintPython(source);
    case "javascript":
    case "typescript":
      return scriptSyntax(source);
    case "json":
      return jsonSyntax(source);
    case "yaml":
      return yamlSyntax(source);
    default:
      return undefined;
  }
}

export const BUNDLED_NAMES: Readonly<Record<string, string>> = {
  python: "ruff (bundled)",
  javascript: "syntax check",
  typescript: "syntax check",
  json: "syntax check",
  yaml: "syntax check",
};

/** Ruff with its own settings, for as long as `work` takes. */
async function withRuff<T>(work: (check: (text: string) => readonly RuffFinding[]) => T): Promise<T> {
  const { PositionEncoding, Workspace } = await import("@astral-sh/ruff-wasm-nodejs");
  const workspace = new Workspace(Workspace.defaultSettings(), PositionEncoding.Utf16);
  try {
    return work((text) => workspace.check(text) as readonly RuffFinding[]);
  } finally {
    workspace.free();
  }
}

async function lintPython({ name, text }: Source): Promise<readonly Diagnostic[]> {
  const found = await withRuff((check) => check(text));
  return found.map(({ code, message, fix, start_location }) => ({
    file: name,
    line: start_location.row,
    col: start_location.column,
    rule: code ?? "syntax",
    severity: code === null ? ("error" as const) : severityOfRule(code),
    message,
    fixable: fix === null ? undefined : true,
  }));
}

/** Names that do not exist and code that cannot be read are errors; the rest is advice. */
function severityOfRule(code: string): "error" | "warning" {
  return /^(?:E9|F63|F7|F82|invalid-syntax)/.test(code) ? "error" : "warning";
}

/** The text with all simple mends of Python findings made; the same text when there are none. */
export async function fixPython(text: string): Promise<string> {
  return withRuff((check) => {
    let current = text;
    // One mend may make room for the next; more rounds than this would be a quarrel between rules.
    for (let round = 0; round < 10; round += 1) {
      const next = applyFixes(current, check(current));
      if (next === current) return current;
      current = next;
    }
    return current;
  });
}

interface Place {
  readonly row: number;
  readonly column: number;
}

function applyFixes(text: string, found: readonly RuffFinding[]): string {
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  const offset = ({ row, column }: Place) => (lineStarts[row - 1] ?? text.length) + column - 1;
  const edits = found
    .flatMap(({ fix }) => fix?.edits ?? [])
    .map((edit) => ({
      start: offset(edit.location),
      end: offset(edit.end_location),
      content: edit.content ?? "",
    }))
    .sort((left, right) => left.start - right.start);
  let result = "";
  let done = 0;
  for (const edit of edits) {
    // Overlapping mends wait for the next round.
    if (edit.start < done) continue;
    result += text.slice(done, edit.start) + edit.content;
    done = edit.end;
  }
  return result + text.slice(done);
}

async function scriptSyntax({ name, text, language, path }: Source): Promise<readonly Diagnostic[]> {
  const { default: ts } = await import("typescript6");
  const file = path ?? (language === "typescript" ? "snippet.tsx" : "snippet.jsx");
  const { diagnostics = [] } = ts.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      allowJs: true,
      jsx: ts.JsxEmit.Preserve,
    },
  });
  return diagnostics
    .filter(({ category }) => category === ts.DiagnosticCategory.Error)
    .map((each) => {
      const at = each.file?.getLineAndCharacterOfPosition(each.start ?? 0);
      return {
        file: name,
        line: (at?.line ?? 0) + 1,
        col: (at?.character ?? 0) + 1,
        rule: "syntax",
        severity: "error" as const,
        message: ts.flattenDiagnosticMessageText(each.messageText, " "),
      };
    });
}

function jsonSyntax({ name, text }: Source): readonly Diagnostic[] {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    const message = messageOf(error);
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
    const before = text.slice(0, offset).split("\n");
    return [
      {
        file: name,
        line: before.length,
        col: (before.at(-1)?.length ?? 0) + 1,
        rule: "syntax",
        severity: "error",
        message,
      },
    ];
  }
}

async function yamlSyntax({ name, text }: Source): Promise<readonly Diagnostic[]> {
  const { LineCounter, parseAllDocuments } = await import("yaml");
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap(({ errors, warnings }) =>
    [...errors, ...warnings].map((problem) => {
      const { line, col } = lines.linePos(problem.pos[0]);
      return {
        file: name,
        line,
        col,
        rule: problem.code.toLowerCase(),
        severity: problem.name === "YAMLParseError" ? ("error" as const) : ("warning" as const),
        message: problem.message,
      };
    }),
  );
}
