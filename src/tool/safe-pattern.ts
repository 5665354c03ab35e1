import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/** RE2 in JavaScript needs about 0.1 µs a character; past this a text counts as not matching. */
const MAX_MATCHED_CHARS = 256 * 1024;

/**
 * A pattern that runs in linear time whatever its author wrote. It is a RegExp because the validator takes
 * only those; nothing but `test` may be called on it.
 */
class LinearPattern extends RegExp {
  readonly #matcher: RE2JS;
  readonly #written: string;

  constructor(written: string, matcher: RE2JS) {
    super("");
    this.#written = written;
    this.#matcher = matcher;
  }

  override test(text: string): boolean {
    return text.length <= MAX_MATCHED_CHARS && this.#matcher.test(text);
  }

  override toString(): string {
    return `/${this.#written}/`;
  }
}

/** Undefined when RE2 has no linear-time form of it (look-around, back-references) or it is no pattern at all. */
export function compileLinear(pattern: string): RegExp | undefined {
  // Loaded only when a foreign schema really has a pattern: a quarter of a megabyte that most runs never need.
  const { RE2JS: engine } = createRequire(import.meta.url)("re2js") as typeof import("re2js");
  try {
    return new LinearPattern(pattern, engine.compile(engine.translateRegExp(pattern)));
  } catch {
    return undefined;
  }
}

/** How many ways a pattern may have to try before it gives up at one place in the text. */
const MAX_WAYS = 1000;

/**
 * True when the platform's own backtracking engine can run this pattern in linear time. Needed for
 * `patternProperties`, whose keys the validator always compiles itself. Deliberately narrow: at most one
 * unbounded repetition, anchored at the start, never of a group, and few choices besides.
 */
export function isProvablyLinear(pattern: string): boolean {
  if (pattern === ".*" || pattern === ".+") return true;
  if (/\\[1-9k]/.test(pattern)) return false;
  const atoms = pattern.replace(/\\[\s\S]/g, "a").replace(/\[[^\]]*\]/g, "a");
  const isLookAround = /\(\?(?!:)/.test(atoms);
  const repeatsGroup = /\)[*+?{]/.test(atoms);
  if (isLookAround || repeatsGroup) return false;
  let ways = 1;
  for (const [, widest] of atoms.matchAll(/\{(?:\d+,)?(\d+)\}/g)) ways *= Math.max(1, Number(widest));
  for (const _ of atoms.matchAll(/[^(]\?/g)) ways *= 2;
  for (const group of atoms.split("(")) ways *= group.split("|").length;
  if (ways > MAX_WAYS) return false;
  const unbounded = atoms.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  if (unbounded === 0) return true;
  return unbounded === 1 && atoms.startsWith("^") && !hasTopLevelChoice(atoms);
}

/** In `^a|b+` the anchor holds for the first choice only. */
function hasTopLevelChoice(atoms: string): boolean {
  let depth = 0;
  for (const char of atoms) {
    if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    else if (char === "|" && depth === 0) return true;
  }
  return false;
}
