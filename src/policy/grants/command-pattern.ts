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
  if (pattern.length > LONGEST_PATTERN || command.length > LONGEST_COMMAND) return false;
  if (climbs(command) && !climbs(pattern)) return false;
  if (bringsOptions(pattern, command)) return false;
  return isSimpleCommand(command) && matches(tokensOf(pattern.trim()), command.trim());
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
  return pattern === word || matches(tokensOf(pattern), word);
}

/** No second command, redirection or substitution, wherever it stands. */
export function isSimpleCommand(command: string): boolean {
  return outlineOf(command.trim())?.simple === true;
}

type Token =
  | { readonly kind: "character"; readonly value: string }
  | { readonly kind: "one"; accepts(character: string): boolean }
  | { readonly kind: "many"; accepts(character: string): boolean };

const inWord = (character: string) => !/\s/.test(character);
const anything = () => true;

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === "*") {
      const alone = !/\S/.test(pattern.charAt(index - 1)) && !/\S/.test(pattern.charAt(index + 1));
      tokens.push({ kind: "many", accepts: alone ? anything : inWord });
    } else if (character === "?") tokens.push({ kind: "one", accepts: inWord });
    else {
      const set = character === "[" ? readSet(pattern, index) : undefined;
      tokens.push(set?.token ?? { kind: "character", value: character });
      if (set !== undefined) index = set.end;
    }
  }
  return tokens;
}

/** `[abc]`, `[a-z]`, `[!a]`; without a closing bracket it is a plain character. */
function readSet(pattern: string, start: number): { token: Token; end: number } | undefined {
  const negated = /[!^]/.test(pattern.charAt(start + 1));
  const first = start + (negated ? 2 : 1);
  const end = pattern.indexOf("]", first + 1);
  if (end === -1) return undefined;
  const inside = pattern.slice(first, end);
  const has = (character: string) => {
    for (let index = 0; index < inside.length; index++) {
      const [low, dash, high] = [inside.charAt(index), inside.charAt(index + 1), inside.charAt(index + 2)];
      if (dash === "-" && high !== "") {
        if (character >= low && character <= high) return true;
        index += 2;
      } else if (character === low) return true;
    }
    return false;
  };
  return { token: { kind: "one", accepts: (each) => inWord(each) && has(each) !== negated }, end };
}

/** Walks all ways through the pattern at once. */
function matches(tokens: readonly Token[], text: string): boolean {
  let reached = new Uint8Array(tokens.length + 1);
  reached[0] = 1;
  skipStars(tokens, reached);
  for (const character of text) {
    const next = new Uint8Array(tokens.length + 1);
    let alive = false;
    for (const [index, token] of tokens.entries()) {
      if (reached[index] !== 1) continue;
      if (token.kind === "many") {
        if (token.accepts(character)) next[index] = 1;
      } else if (token.kind === "one" ? token.accepts(character) : token.value === character) {
        next[index + 1] = 1;
      }
      alive ||= next[index] === 1 || next[index + 1] === 1;
    }
    if (!alive) return false;
    skipStars(tokens, next);
    reached = next;
  }
  return reached[tokens.length] === 1;
}

function skipStars(tokens: readonly Token[], reached: Uint8Array): void {
  for (const [index, token] of tokens.entries()) {
    if (reached[index] === 1 && token.kind === "many") reached[index + 1] = 1;
  }
}
