import { foldPath } from "./path.js";
import { readTokens, type SequenceRules, sequenceMatches, type Token, tokensMatch } from "./wildcard.js";

/** One segment of a pattern: `**` for any number of folders, plain text, or something with wildcards in it. */
type Part = "**" | { readonly text: string } | { readonly tokens: readonly Token[] };

/** A compiled path pattern. Paths are given as their segments, so that `/allowed-evil` never passes as `/allowed`. */
export interface Glob {
  readonly source: string;
  matches(segments: readonly string[]): boolean;
  /** Whether something below this folder could match, and whether the pattern names that place itself. */
  below(folder: readonly string[]): "no" | "named" | "anywhere";
}

export interface GlobOptions {
  /** What relative patterns are relative to. */
  readonly cwd: string;
  /** What `~` stands for. */
  readonly home: string;
  /**
   * `deny` compares without case and after NFC, and takes a relative pattern at any depth as well; `allow`
   * takes names exactly as they are written.
   */
  readonly purpose: "allow" | "deny";
}

const LONGEST_PATTERN = 4096;

/** Undefined when the pattern cannot be used: empty, NUL, too long, or braces that stand for too much. */
export function compileGlob(source: string, options: GlobOptions): Glob | undefined {
  if (source.trim() === "" || source.includes("\0") || source.length > LONGEST_PATTERN) return undefined;
  const fold = options.purpose === "deny" ? foldPath : (text: string) => text;
  const variants: (readonly Part[])[] = [];
  for (const pattern of anchor(source, options)) {
    const expanded = expandBraces(pattern);
    if (expanded === undefined) return undefined;
    for (const each of expanded) variants.push(partsOf(fold(each)));
  }
  return {
    source,
    matches(segments) {
      const folded = segments.map(fold);
      return variants.some((parts) => sequenceMatches(parts, folded, SEGMENTS));
    },
    below(folder) {
      const folded = folder.map(fold);
      const found = variants.map((parts) => reach(parts, folded));
      return found.includes("named") ? "named" : found.includes("anywhere") ? "anywhere" : "no";
    },
  };
}

/** The pattern as absolute ones. A pattern that begins with `**` holds everywhere. */
function anchor(source: string, { cwd, home, purpose }: GlobOptions): readonly string[] {
  const pattern = source.trim();
  if (pattern === "~" || pattern.startsWith("~/")) return [literal(home) + pattern.slice(1)];
  if (pattern.startsWith("/")) return [pattern];
  if (pattern.startsWith("**")) return [`/${pattern}`];
  const here = `${literal(cwd)}/${pattern}`;
  return purpose === "deny" ? [here, `/**/${pattern}`] : [here];
}

/** A folder's own name, with what would be a wildcard taken as it is. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, "\\$&");
}

function partsOf(pattern: string): readonly Part[] {
  const parts: Part[] = [];
  for (const segment of pattern.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") parts.pop();
    else if (segment === "**") {
      if (parts.at(-1) !== "**") parts.push("**");
    } else if (/[*?[\\]/.test(segment)) parts.push({ tokens: readTokens(segment) });
    else parts.push({ text: segment });
  }
  return parts;
}

function takesSegment(part: Part | undefined, segment: string): boolean {
  if (part === undefined || part === "**") return false;
  return "text" in part ? part.text === segment : tokensMatch(part.tokens, segment);
}

const SEGMENTS: SequenceRules<Part, string> = { isRun: (part) => part === "**", takes: takesSegment };

/** Walks the folder's own segments through the pattern; what is left over lies below the folder. */
function reach(parts: readonly Part[], folder: readonly string[]): "no" | "named" | "anywhere" {
  for (const [index, segment] of folder.entries()) {
    const part = parts[index];
    if (part === "**") return "anywhere";
    if (part === undefined || !takesSegment(part, segment)) return "no";
  }
  if (parts.length <= folder.length) return "no";
  return parts[folder.length] === "**" && parts.length > folder.length + 1 ? "anywhere" : "named";
}

/** The segments of an absolute path; empty ones and `.` do not count. */
export function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

const MOST_VARIANTS = 256;

/**
 * `a/{b,c}/d` as the patterns it stands for. Braces without a comma or without an end are plain characters.
 * Undefined when there would be too many.
 */
export function expandBraces(pattern: string): readonly string[] | undefined {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const variant of open) {
      const group = firstGroup(variant);
      if (group === undefined) done.push(variant);
      else for (const choice of group.choices) next.push(group.before + choice + group.after);
      if (done.length + next.length > MOST_VARIANTS) return undefined;
    }
    open = next;
  }
  return done;
}

interface Group {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

function firstGroup(text: string): Group | undefined {
  for (let start = nextBrace(text, 0); start !== -1; start = nextBrace(text, start + 1)) {
    const group = groupAt(text, start);
    if (group !== undefined) return group;
  }
  return undefined;
}

function nextBrace(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") return at;
  }
  return -1;
}

function groupAt(text: string, start: number): Group | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "{") depth += 1;
    else if (character === "," && depth === 1) {
      choices.push(text.slice(from, at));
      from = at + 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth > 0) continue;
      if (choices.length === 0) return undefined;
      choices.push(text.slice(from, at));
      return { before: text.slice(0, start), choices, after: text.slice(at + 1) };
    }
  }
  return undefined;
}
