import { isAbsolute, join } from "node:path/posix";
import { isRecord } from "../../../base/record.js";
import type { Language } from "../project/language.js";
import type { Diagnostic } from "./diagnostic.js";

/** A linter that projects bring along, and how to talk to it. */
export interface ProjectLinter {
  readonly name: string;
  readonly languages: readonly Language[];
  /** Files whose presence says that the project uses it. */
  readonly configs: readonly string[];
  check(path: string): readonly string[];
  /** Throws when the text is not what the linter prints. */
  read(stdout: string, cwd: string): readonly Diagnostic[];
  /** Reads the file on standard input and prints it mended; undefined: see `readFixed`. */
  fixArguments?(path: string): readonly string[];
  /** Arguments that make `check` also print mended files, without writing them. */
  readonly fixFlags?: readonly string[];
  readFixed?(stdout: string): readonly { readonly path: string; readonly text: string }[];
}

const SCRIPTS: readonly Language[] = ["javascript", "typescript", "vue"];

export const PROJECT_LINTERS: readonly ProjectLinter[] = [
  {
    name: "eslint",
    languages: SCRIPTS,
    configs: [
      "eslint.config.js",
      "eslint.config.mjs",
      "eslint.config.cjs",
      "eslint.config.ts",
      ".eslintrc",
      ".eslintrc.js",
      ".eslintrc.cjs",
      ".eslintrc.json",
      ".eslintrc.yaml",
      ".eslintrc.yml",
    ],
    check: (path) => ["--format", "json", "--no-color", "--no-error-on-unmatched-pattern", "--", path],
    fixFlags: ["--fix-dry-run"],
    read: (stdout) => records(stdout).flatMap(eslintFile),
    readFixed: (stdout) =>
      records(stdout).flatMap(({ filePath, output }) =>
        typeof filePath === "string" && typeof output === "string" ? [{ path: filePath, text: output }] : [],
      ),
  },
  {
    name: "biome",
    languages: [...SCRIPTS, "json", "css", "graphql"],
    configs: ["biome.json", "biome.jsonc"],
    check: (path) => ["lint", "--reporter=json", "--max-diagnostics=none", "--colors=off", path],
    read: (stdout, cwd) => biomeDiagnostics(stdout, cwd),
    fixArguments: (path) => ["lint", "--write", `--stdin-file-path=${path}`],
  },
  {
    name: "oxlint",
    languages: SCRIPTS,
    configs: [".oxlintrc.json", "oxlintrc.json"],
    check: (path) => ["--format", "json", path],
    read: (stdout, cwd) => oxlintDiagnostics(stdout, cwd),
  },
  {
    name: "ruff",
    languages: ["python"],
    configs: ["ruff.toml", ".ruff.toml", "pyproject.toml"],
    check: (path) => ["check", "--output-format", "json", "--exit-zero", "--no-cache", "--", path],
    read: (stdout) => records(stdout).map(ruffFinding),
    fixArguments: (path) => [
      "check",
      "--fix-only",
      "--exit-zero",
      "--no-cache",
      "--stdin-filename",
      path,
      "-",
    ],
  },
];

type Fields = Readonly<Record<string, unknown>>;

function records(stdout: string): readonly Fields[] {
  const parsed: unknown = JSON.parse(stdout);
  if (!Array.isArray(parsed)) throw new TypeError("not a list");
  return parsed.filter(isRecord);
}

function listIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function eslintFile(file: Fields): readonly Diagnostic[] {
  return listIn(file, "messages").map((message) => ({
    file: String(file.filePath),
    line: number(message.line),
    col: number(message.column),
    rule: typeof message.ruleId === "string" ? message.ruleId : "syntax",
    severity: message.severity === 2 ? "error" : "warning",
    message: String(message.message),
    fixable: isRecord(message.fix) ? true : undefined,
  }));
}

function biomeDiagnostics(stdout: string, cwd: string): readonly Diagnostic[] {
  const parsed: unknown = JSON.parse(stdout);
  if (!isRecord(parsed)) throw new TypeError("not an object");
  return listIn(parsed, "diagnostics").map((each) => {
    const location = isRecord(each.location) ? each.location : {};
    const start = isRecord(location.start) ? location.start : {};
    const path = String(location.path ?? "");
    return {
      file: isAbsolute(path) ? path : join(cwd, path),
      line: number(start.line),
      col: number(start.column),
      rule: String(each.category ?? "lint"),
      severity: severityOf(each.severity),
      message: String(each.message ?? each.description ?? ""),
      fixable: listIn(each, "advices").some((advice) => /^Safe fix/.test(String(advice.text)))
        ? true
        : undefined,
    };
  });
}

function oxlintDiagnostics(stdout: string, cwd: string): readonly Diagnostic[] {
  const parsed: unknown = JSON.parse(stdout);
  const list = isRecord(parsed) ? listIn(parsed, "diagnostics") : [];
  return list.map((each) => {
    const [label] = listIn(each, "labels");
    const span = isRecord(label?.span) ? label.span : {};
    const path = String(each.filename ?? "");
    return {
      file: isAbsolute(path) ? path : join(cwd, path),
      line: number(span.line),
      col: number(span.column),
      rule: String(each.code ?? "lint"),
      severity: severityOf(each.severity),
      message: String(each.message ?? ""),
    };
  });
}

function ruffFinding(each: Fields): Diagnostic {
  const location = isRecord(each.location) ? each.location : {};
  return {
    file: String(each.filename),
    line: number(location.row),
    col: number(location.column),
    rule: typeof each.code === "string" ? each.code : "syntax",
    severity: typeof each.code === "string" ? "warning" : "error",
    message: String(each.message),
    fixable: isRecord(each.fix) ? true : undefined,
  };
}

function severityOf(word: unknown): Diagnostic["severity"] {
  if (word === "error" || word === "fatal") return "error";
  return word === "information" || word === "info" || word === "hint" ? "info" : "warning";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 1;
}
