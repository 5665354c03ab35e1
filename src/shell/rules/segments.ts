import { matchesPattern } from "../read/pattern.js";
import { type ShellWord, UNKNOWN } from "../types.js";

/** A path word taken apart, so that `//etc/../etc/./x`, `~/.ssh` and `/proc/self/root/etc/x` compare by meaning. */
export interface Place {
  /** `here` is relative to a folder nobody named; `unknown` begins with a piece only the shell knows. */
  readonly anchor: "root" | "home" | "here" | "unknown";
  /** Lower-case, without `.`; `..` is left only at the front of a `here` path. */
  readonly segments: readonly string[];
}

const ORDINARY = /^[A-Za-z0-9_][\w.+=@%,:-]*(?:\/[A-Za-z0-9_][\w.+=@%,:-]*)*$/;

/** A relative path without hidden names, `..` or patterns: most operands are, and few rules care about them. */
export function isOrdinary({ text }: ShellWord): boolean {
  return ORDINARY.test(text);
}

/** Whether a word can be a path from the root or a home at all. */
export function isAnchored({ text }: ShellWord): boolean {
  const first = text[0];
  return first === "/" || first === "~" || first === "$" || first === UNKNOWN || /^file:/i.test(text);
}

/**
 * Every rule asks about the same words: the answer is kept as long as the word lives. That about a short text is kept
 * for other lines; a longer one may be cut out of a long line, which it would keep in memory.
 */
export function perWord<Answer extends object>(answer: (word: ShellWord) => Answer) {
  const known = new WeakMap<ShellWord, Answer>();
  const texts = new Map<string, Answer>();
  return (word: ShellWord): Answer => {
    const isShort = word.text.length < 13 && word.variables === undefined;
    const kept = (isShort ? texts.get(word.text) : undefined) ?? known.get(word);
    if (kept !== undefined) return kept;
    const fresh = answer(word);
    if (isShort && texts.size < MOST_TEXTS) texts.set(word.text, fresh);
    else known.set(word, fresh);
    return fresh;
  };
}
const MOST_TEXTS = 4_096;

export const placeOf = perWord(readPlace);

function readPlace(word: ShellWord): Place {
  const text = word.text.replace(/^file:\/\/(?=\/)/i, "").replace(/^\$(?:HOME\b|\{HOME\})/, "~");
  const parts = text.toLowerCase().split("/");
  const first = parts[0] ?? "";
  if (first === "" && text !== "") return settle({ anchor: "root", segments: parts });
  if (first === "~root") return settle({ anchor: "root", segments: ["root", ...parts.slice(1)] });
  if (first === "~+" || first === "~-") return settle({ anchor: "here", segments: parts.slice(1) });
  if (first.startsWith("~")) {
    if (first === "~") return settle({ anchor: "home", segments: parts.slice(1) });
    const someone = ["home", first.slice(1), ...parts.slice(1)];
    return settle({ anchor: "root", segments: someone });
  }
  if (first.startsWith(UNKNOWN)) return settle({ anchor: "unknown", segments: parts });
  return settle({ anchor: "here", segments: parts });
}

function settle(raw: Place): Place {
  let { anchor } = raw;
  const segments: string[] = [];
  for (const segment of raw.segments) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") {
      segments.push(segment);
      continue;
    }
    if (segments.length > 0 && segments.at(-1) !== "..") segments.pop();
    else if (anchor === "here") segments.push("..");
    else if (anchor === "home") {
      anchor = "root";
      segments.push("home");
    }
  }
  return anchor === "root" ? withoutDetours(segments) : { anchor, segments };
}

/** `/proc/<pid>/root` is `/` again, `/private` on a Mac holds the real `/etc`, `/var` and `/tmp`. */
function withoutDetours(segments: readonly string[]): Place {
  const [first, second, third] = segments;
  if (first === "proc" && third === "root") return withoutDetours(segments.slice(3));
  if (first === "proc" && third === "cwd") return { anchor: "here", segments: segments.slice(3) };
  if (first === "private" && /^(?:etc|var|tmp)$/.test(second ?? ""))
    return { anchor: "root", segments: segments.slice(1) };
  return { anchor: "root", segments };
}

/** What follows the home folder, whichever way the home was written; undefined when it is not in one. */
export function inHome(word: ShellWord): readonly string[] | undefined {
  const { anchor, segments } = placeOf(word);
  if (anchor === "home") return segments;
  if (anchor === "unknown") return segments.slice(1);
  if (anchor !== "root") return undefined;
  if (segments[0] === "root") return segments.slice(1);
  return (segments[0] === "home" || segments[0] === "users") && segments.length > 1
    ? segments.slice(2)
    : undefined;
}

/** Whether a segment is, or as a pattern could be, one of these names. A segment wholly unknown is none. */
export function segmentIn(segment: string | undefined, names: ReadonlySet<string>): boolean {
  if (segment === undefined) return false;
  if (!/[*?[\uFFFC]/.test(segment)) return names.has(segment);
  if (segment === UNKNOWN || segment.length > 64) return false;
  for (const name of names) if (couldMatch(segment, name)) return true;
  return false;
}

/** True for `*`, `.*`, `?*`, `[a-z]*`: a pattern that takes (nearly) everything in a folder. */
export function takesEverything(segment: string): boolean {
  return segment.length <= 64 && /\*/.test(segment) && /^(?:\[[^\]]*\]|[?*.])+$/.test(segment);
}

/** Whether the name is one that a pattern, with pieces nobody knows, may stand for. */
export function couldMatch(pattern: string, name: string): boolean {
  return matchesPattern(pattern.replaceAll(UNKNOWN, "*"), name);
}
