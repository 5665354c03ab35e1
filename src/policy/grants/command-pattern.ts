import { readTokens, sequenceMatches, tokensMatch } from "../../base/wildcard.js";
import { outlineOf } from "../../shell/analysis.js";

/** Longer commands are never approved by a pattern: nobody foresaw them when writing it. */
const LONGEST_COMMAND = 4_096;
const LONGEST_PATTERN = 1_024;

export function hasWildcard(text: string): boolean {
  return /[*?[]/.test(text);
}

/**
 * Whether a pattern covers one simple command. A `*` that is a word of its own stands for any further words; a
 * `*` inside a word stays inside it, so that `rm -rf build/*` cannot reach `rm -rf build/x /etc`. Climbing out
 * with `..` is covered only when the pattern says so itself, as are options beside its own. Time grows with pattern × command, never faster.
 */
export function patternCovers(pattern: string, command: string): boolean {
  if (pattern.length > LONGEST_PATTERN || command.length > LONGEST_COMMAND || pattern.includes(MORE))
    return false;
  if (climbs(command) && !climbs(pattern)) return false;
  if (bringsOptions(pattern, command)) return false;
  return isSimpleCommand(command) && matches(pattern.trim(), command.trim());
}

function climbs(text: string): boolean {
  return /(?:^|[\s/"'=:])\.\.(?:$|[\s/"'])/.test(text);
}

/** Options that name a program, a file of settings, or an address that a program is fetched from. */
const RUNS_PROGRAMS =
  /^(?:-c|-o|--(?:receive-pack|upload-pack|exec|exec-path|rsh|config|config-env|config-file|ssh-command|checkpoint-action|to-command|use-compress-program|pager|editor|script-shell|node-options|index-url|registry|repo))(?:=|$)/;

/**
 * Whoever writes options into a pattern has thought about them: then `*` stands for operands. Where there are
 * none it may stand for options, too, but never for those that run something else.
 */
function bringsOptions(pattern: string, command: string): boolean {
  const optionsIn = (text: string) => text.split(/\s+/).filter((word) => /^["']?-/.test(word));
  const own = optionsIn(pattern);
  const more = optionsIn(command).filter((word) => !own.some((option) => isSameWord(option, word)));
  return more.some((word) => own.length > 0 || RUNS_PROGRAMS.test(word.replace(/["']/g, "")));
}

function isSameWord(pattern: string, word: string): boolean {
  return pattern === word || tokensMatch(readTokens(pattern.replaceAll("\\", "\\\\")), word);
}

/** No second command, redirection or substitution, wherever it stands. */
export function isSimpleCommand(command: string): boolean {
  return outlineOf(command.trim())?.simple === true;
}

/** Stands in a pattern for further words; no pattern holds it itself. */
const MORE = "\0";

/** A `*` that is a word of its own takes one word and any number after it. */
function matches(pattern: string, command: string): boolean {
  const parts = pattern.split(/\s/).flatMap((word) => (word === "*" ? [word, MORE] : [word]));
  return sequenceMatches(parts, command.split(/\s/), {
    isRun: (part) => part === MORE,
    takes: isSameWord,
  });
}
