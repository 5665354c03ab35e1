import { type ShellWord, UNKNOWN } from "../types.js";
import { foldLookalikes } from "./lookalikes.js";
import { hasWildcard, matchesPattern } from "./pattern.js";

/** Names a pattern may stand for; more than these would only repeat the same verdicts. */
const MOST_NAMES = 48;

/**
 * The programs a word may start, in lower case and without folder: one for a plain word, several for a
 * pattern such as `/bin/r?`, and `""` for a word nobody can foresee.
 */
export function programsOf(word: ShellWord, notable: ReadonlySet<string>): readonly string[] {
  if (!word.glob && /^[\w+-]+$/.test(word.text)) return [word.text.toLowerCase()];
  const last = word.text.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const name = foldLookalikes(last.replaceAll(UNKNOWN, ""))
    .toLowerCase()
    .replace(/\.exe$/, "");
  if (!word.glob || !hasWildcard(name)) return [name];
  const meant: string[] = [];
  for (const known of notable) {
    if (meant.length < MOST_NAMES && matchesPattern(name, known)) meant.push(known);
  }
  return meant.length === 0 ? [name] : meant;
}

/** Variables that by custom hold the name of a harmless program the person chose. */
const CUSTOMARY = new Set(
  (
    "EDITOR VISUAL PAGER BROWSER PYTHON PYTHON3 PIP NODE NPM CC CXX CPP LD AR RANLIB STRIP NM OBJCOPY OBJDUMP AS GO " +
    "CARGO RUSTC MAKE CMAKE NINJA JAVA JAVAC MVN GRADLE RUBY PERL PHP LUA GIT DOCKER KUBECTL HELM TERRAFORM CMAKE_COMMAND"
  ).split(" "),
);

export function isCustomaryVariable(word: ShellWord): boolean {
  return (
    word.outputs === undefined &&
    word.variables !== undefined &&
    word.variables.length === 1 &&
    CUSTOMARY.has(word.variables[0] ?? "")
  );
}
