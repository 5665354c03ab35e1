import { danger } from "../rules/row.js";
import { UNKNOWN } from "../types.js";
import type { CodeEffects } from "./effects.js";
import type { Language } from "./languages.js";
import { type CodeToken, tokenize } from "./tokens.js";
import { isWhollyUnknown, quoteWithUnknowns, shellText } from "./values.js";

/** More commands than this in one program are not followed one by one. */
const MOST_COMMANDS = 64;

/** What an awk program starts and writes: `system("…")`, `"…" | getline`, `print | "…"`, `print > "…"`. */
export function effectsOfAwk(
  code: string,
  { language, given }: { readonly language: Language; readonly given: ReadonlyMap<string, string> },
): CodeEffects {
  const tokens = tokenize(code, language);
  if (tokens === undefined) {
    const runs = /system|getline|\|/.test(code);
    return {
      shell: [],
      opaque: runs,
      finding: runs ? danger("interpreter.unreadable", "runs code that cannot be read") : undefined,
    };
  }
  const shell: string[] = [];
  const assigned = new Map(given);
  let opaque = false;
  const run = (text: string): void => {
    if (isWhollyUnknown(text)) opaque = true;
    else if (shell.length >= MOST_COMMANDS) opaque = true;
    else shell.push(text.includes(UNKNOWN) ? forEveryLine(shellText(text)) : shellText(text));
  };
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as CodeToken;
    if (token.kind === "name" && isSign(tokens[index + 1], "=") && !isSign(tokens[index + 2], "="))
      assigned.set(token.text, joined(following(tokens, index + 2), assigned));
    if (token.kind === "name" && token.text === "system" && isSign(tokens[index + 1], "("))
      run(joined(following(tokens, index + 2), assigned));
    if (isSign(token, "|") || isSign(token, "|&")) {
      const getline = tokens.slice(index + 1, index + 3).some(({ text }) => text === "getline");
      const text = getline
        ? joined(before(tokens, index), assigned)
        : joined(following(tokens, index + 1), assigned);
      run(!getline && /^(?:\S*\/)?(?:ba|z|k|da)?sh\b/.test(text) ? UNKNOWN : text);
    }
    if (isSign(token, "@") && tokens[index + 1]?.text === "include" && tokens[index + 2]?.kind === "text")
      shell.push(`cat -- ${quoteWithUnknowns(tokens[index + 2]?.text ?? "")}`);
    if (token.kind === "name" && token.text === "getline") {
      const opened = readFrom(tokens, index);
      const path = opened === undefined ? UNKNOWN : joined(following(tokens, opened), assigned);
      if (!isWhollyUnknown(path) && !/^(?:-|\/dev\/std)/.test(path))
        shell.push(`cat -- ${quoteWithUnknowns(path)}`);
    }
    if ((isSign(token, ">") || isSign(token, ">>")) && printsBefore(tokens, index)) {
      const target = joined(following(tokens, index + 1), assigned);
      if (!isWhollyUnknown(target) && !target.startsWith("/dev/std"))
        shell.push(`echo >> ${quoteWithUnknowns(target)}`);
    }
  }
  const network = tokens.some(({ kind, text }) => kind === "text" && /^\/inet[46]?\//.test(text));
  if (network)
    return { shell, opaque, finding: danger("interpreter.network", "opens a network connection from awk") };
  return {
    shell,
    opaque,
    finding: opaque ? danger("interpreter.opaque-command", "runs commands made from its input") : undefined,
  };
}

/** An awk program does the same for each line it reads. */
function forEveryLine(command: string): string {
  return `while read -r unknown_value; do ${command}; done`;
}

const LONGEST_TEXT = 16_384;

/** As many tokens as one string may be made of. */
function following(tokens: readonly CodeToken[], from: number): readonly CodeToken[] {
  return tokens.slice(from, from + 64);
}

/** `getline < FILE`, `getline line < FILE`: where the file stands. */
function readFrom(tokens: readonly CodeToken[], getline: number): number | undefined {
  for (let at = getline + 1; at < Math.min(tokens.length, getline + 6); at++) {
    if (isSign(tokens[at], "<")) return at + 1;
    if (tokens[at]?.kind === "sign" && !/^[[\]$]$/.test(tokens[at]?.text ?? "")) return undefined;
  }
  return undefined;
}

/** `ENVIRON["HOME"]`, which is as good as known. */
function isHome(tokens: readonly CodeToken[], at: number): boolean {
  return tokens[at]?.text === "ENVIRON" && isSign(tokens[at + 1], "[") && tokens[at + 2]?.text === "HOME";
}

/** Texts and names that stand side by side are one string in awk. */
function joined(tokens: readonly CodeToken[], assigned: ReadonlyMap<string, string>): string {
  let text = "";
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as CodeToken;
    if (isHome(tokens, at)) {
      text += "~";
      at += 3;
      continue;
    }
    if (text === "" && isSign(token, "(")) continue;
    // A variable that is doubled again and again.
    if (text.length > LONGEST_TEXT) return UNKNOWN;
    if (token.kind === "text") text += token.text;
    else if (token.kind === "name") text += assigned.get(token.text) ?? UNKNOWN;
    else if (token.kind === "number") text += UNKNOWN;
    else if (/^[$.]$/.test(token.text)) text += UNKNOWN;
    else break;
  }
  return text;
}

/** The string in front of `| getline`. */
function before(tokens: readonly CodeToken[], end: number): readonly CodeToken[] {
  let start = end;
  while (start > 0 && end - start < 32) {
    const token = tokens[start - 1] as CodeToken;
    if (token.kind === "sign" && token.text !== "$") break;
    start--;
  }
  return tokens.slice(start, end).filter(({ text }) => !/^(?:while|if|print|printf)$/.test(text));
}

/** `print x > "file"` writes; `if (a > b)` compares. */
function printsBefore(tokens: readonly CodeToken[], index: number): boolean {
  for (let at = index - 1; at >= 0 && index - at < 64; at--) {
    const token = tokens[at] as CodeToken;
    if (token.kind === "sign" && /^[;{}\n]$/.test(token.text)) return false;
    if (token.kind === "name" && /^printf?$/.test(token.text)) return true;
  }
  return false;
}

function isSign(token: CodeToken | undefined, text: string): boolean {
  return token?.kind === "sign" && token.text === text;
}
