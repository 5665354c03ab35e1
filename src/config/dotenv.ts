import { readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import { messageOf } from "../base/errno.js";
import type { Report } from "./check-value.js";
import type { Place } from "./types.js";

/**
 * Names a .env file may not set: they would move our home, send keys or traffic elsewhere, or change how
 * programs are found and loaded. They still work from the real environment.
 */
export function isForbiddenInDotenv(name: string): boolean {
  return (
    /^(HERMES_HOME|HERMES_YOLO_MODE|HOME|PATH|SHELL|BASH_ENV|ENV|IFS|PYTHONPATH|PERL5LIB|RUBYLIB|OLLAMA_HOST)$/.test(
      name,
    ) ||
    /^(NODE_|LD_|DYLD_|npm_config_|GIT_(SSH|EXEC|CONFIG|PROXY))/.test(name) ||
    /^(https?|all|no|ftp)_proxy$/i.test(name) ||
    /_(BASE_URL|API_BASE|API_URL|ENDPOINT|ENDPOINT_URL)$/.test(name) ||
    /^SSL_CERT_(FILE|DIR)$/.test(name)
  );
}

export interface Dotenv {
  readonly values: Readonly<Record<string, string>>;
  placeOf(name: string): Place | undefined;
}

export function readDotenv(file: string, report: Report): Dotenv | undefined {
  const text = readText(file, report);
  if (text === undefined) return undefined;
  const places = new Map(dotenvEntries(text).map((entry) => [entry.name, entry.place]));
  const placeOf = (name: string) => places.get(name);
  const line = (name: string) => placeOf(name)?.line ?? 0;
  reportBrokenLines(text, report);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parseDotenv(text)).sort(([a], [b]) => line(a) - line(b))) {
    if (value === undefined) continue;
    if (!isForbiddenInDotenv(name)) {
      values[name] = value;
      continue;
    }
    report({
      severity: "warning",
      message: `${name} is ignored: .env may hold secrets, but not move the home, endpoints or programs`,
      hint: "set it in the environment of the process if it is meant",
      place: placeOf(name),
      at: name,
    });
  }
  return { values, placeOf };
}

/** The values of such a text. Node's reader makes a name of a broken line and of the next one, which then sets nothing. */
export function parseDotenv(text: string): NodeJS.Dict<string> {
  const body = withoutBom(text);
  const broken = new Set(linesOf(body).broken);
  return parseEnv(
    body
      .split("\n")
      .map((line, index) => (broken.has(index + 1) ? "" : line))
      .join("\n"),
  );
}

/** Numbers of the lines that say nothing. */
export function brokenDotenvLines(text: string): readonly number[] {
  return linesOf(withoutBom(text)).broken;
}

const LINE = /^\s*(?:#.*|(?:export\s+)?[A-Za-z_][\w.-]*\s*=.*)?$/;

interface Lines {
  readonly broken: readonly number[];
  /** The quote that nothing closes, and where it stands. */
  readonly open: { readonly mark: string; readonly line: number } | undefined;
}

function linesOf(text: string): Lines {
  const broken: number[] = [];
  let open: Lines["open"];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (open !== undefined) {
      if (line.includes(open.mark)) open = undefined;
      continue;
    }
    if (!LINE.test(line)) broken.push(index + 1);
    const [, mark = "", rest = ""] = /^\s*[^#=]*=\s*(["'`])(.*)$/.exec(line) ?? [];
    if (mark !== "" && !rest.includes(mark)) open = { mark, line: index + 1 };
  }
  return { broken, open };
}

/** A line that says nothing, or a last one that may be half, has often been a key before. */
function reportBrokenLines(text: string, report: Report): void {
  const warn = (message: string, line: number) =>
    report({
      severity: "warning",
      message,
      hint: "look at the file; nothing else of it is concerned",
      place: { line, column: 1 },
      at: ".env",
    });
  const { broken, open } = linesOf(text);
  for (const line of broken) warn("this line is no NAME=value and is ignored", line);
  const lines = text.split(/\r?\n/);
  const last = lines.at(-1) ?? "";
  if (open !== undefined) warn(`the ${open.mark} that begins this value is never closed`, open.line);
  else if (last.trim() !== "" && !last.trimStart().startsWith("#"))
    warn("the file ends without a line break, so that its last value may be cut off", lines.length);
}

function readText(file: string, report: Report): string | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) {
      const message = "other users of this machine can read the secrets in .env";
      report({ severity: "warning", message, hint: `run: chmod 600 ${file}`, at: ".env" });
    }
    return withoutBom(readFileSync(file, "utf8"));
  } catch (error) {
    const reason = messageOf(error);
    const message = `.env could not be read: ${reason}`;
    report({ severity: "error", message, hint: "check its permissions", at: ".env" });
    return undefined;
  }
}

export function withoutBom(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

export interface DotenvEntry {
  readonly name: string;
  readonly place: Place;
  readonly start: number;
  /** Just behind the value, before a trailing comment or line end. */
  readonly end: number;
}

/** Where each assignment stands in the text; a quoted value may run over several lines. */
export function dotenvEntries(text: string): DotenvEntry[] {
  const entries: DotenvEntry[] = [];
  const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*/gm;
  for (let match = assignment.exec(text); match !== null; match = assignment.exec(text)) {
    const valueStart = assignment.lastIndex;
    const end = valueEnd(text, valueStart);
    const lines = text.slice(0, match.index).split("\n");
    entries.push({
      name: match[1] ?? "",
      place: { line: lines.length, column: 1 },
      start: match.index,
      end,
    });
    assignment.lastIndex = Math.max(end, valueStart);
  }
  return entries;
}

function valueEnd(text: string, start: number): number {
  const quote = text[start];
  if (quote === '"' || quote === "'" || quote === "`") {
    const close = text.indexOf(quote, start + 1);
    if (close !== -1) return close + 1;
  }
  const lineEnd = text.indexOf("\n", start);
  const line = text.slice(start, lineEnd === -1 ? text.length : lineEnd);
  const comment = line.indexOf("#");
  return start + (comment === -1 ? line : line.slice(0, comment)).trimEnd().length;
}

/** The text with one assignment changed or added, everything else byte for byte; undefined if impossible. */
export function upsertDotenv(text: string, name: string, value: string): string | undefined {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const existing = dotenvEntries(text).findLast((entry) => entry.name === name);
  const before = parseDotenv(text);
  for (const quoted of spellings(value)) {
    const assignment = `${name}=${quoted}`;
    const gap = text === "" || text.endsWith("\n") ? "" : newline;
    const next = existing
      ? `${text.slice(0, existing.start)}${assignment}${text.slice(existing.end)}`
      : `${text}${gap}${assignment}${newline}`;
    // The reader is the judge: the new value arrives exactly, and no other one changes.
    const after = parseDotenv(next);
    const others = Object.keys({ ...before, ...after }).filter((other) => other !== name);
    if (after[name] === value && others.every((other) => after[other] === before[other])) return next;
  }
  return undefined;
}

function spellings(value: string): string[] {
  const quoted = ["'", '"', "`"]
    .filter((quote) => !value.includes(quote))
    .map((quote) => quote + value + quote);
  return /^[A-Za-z0-9_.:/+=@%,~-]*$/.test(value) ? [value, ...quoted] : quoted;
}
