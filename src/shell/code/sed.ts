import { UNKNOWN } from "../types.js";

/** Shell commands that a sed script starts: the command `e` and the flag `e` of `s`. `UNKNOWN` for its own input. */
export function commandsOfSed(script: string): readonly string[] {
  const found: string[] = [];
  let at = 0;
  while (at < script.length) {
    at = skipAddress(script, at);
    const command = script[at] ?? "";
    at++;
    if (command === "s" || command === "y") {
      const delimiter = script[at] ?? "";
      const middle = endOfPart(script, { from: at + 1, delimiter });
      const end = endOfPart(script, { from: middle + 1, delimiter });
      const flags = /^[a-zA-Z0-9]*/.exec(script.slice(end + 1, end + 24))?.[0] ?? "";
      const beforeFile = flags.replace(/w.*$/, "");
      if (command === "s" && /e/.test(beforeFile))
        found.push(script.slice(middle + 1, end).replace(/&|\\\d/g, UNKNOWN));
      at = end + 1 + beforeFile.length;
      if (flags.includes("w")) at = lineEnd(script, at);
    } else if (command === "e") {
      const end = lineEnd(script, at);
      const text = script.slice(at, end).trimEnd().replace(/[;}]$/, "").trim();
      found.push(text === "" ? UNKNOWN : text);
      at = end;
    } else if (/[aicrRwWbtTvF:]/.test(command)) {
      if (/[rRwW]/.test(command)) found.push(...fileCommand(command, script.slice(at, lineEnd(script, at))));
      at = /[btT:]/.test(command) ? labelEnd(script, at) : lineEnd(script, at);
    }
  }
  return found;
}

/** `r FILE` prints a file, `w FILE` writes one. */
function fileCommand(command: string, rest: string): readonly string[] {
  const file = rest.trim();
  if (!/^[~/.][\w./~-]*$/.test(file)) return [];
  return [/[rR]/.test(command) ? `cat ${file}` : `: > ${file}`];
}

/** `1,5`, `/pattern/I`, `\,x,`, `$`, `!`, blanks and braces in front of a command. */
function skipAddress(script: string, from: number): number {
  let at = from;
  while (at < script.length) {
    const char = script[at] ?? "";
    if (/[\s;{}0-9$,!~+]/.test(char)) at++;
    else if (char === "/") at = endOfPart(script, { from: at + 1, delimiter: "/" }) + 1;
    else if (char === "\\") at = endOfPart(script, { from: at + 2, delimiter: script[at + 1] ?? "" }) + 1;
    else if (char === "#") at = lineEnd(script, at);
    else if (/[IM]/.test(char) && script[at - 1] === "/") at++;
    else break;
  }
  return at;
}

/** Index of the delimiter that ends the part. */
function endOfPart(script: string, { from, delimiter }: { from: number; delimiter: string }): number {
  for (let at = from; at < script.length; at++) {
    if (script[at] === "\\") at++;
    else if (script[at] === delimiter) return at;
  }
  return script.length;
}

function lineEnd(script: string, from: number): number {
  const end = script.indexOf("\n", from);
  return end < 0 ? script.length : end;
}

function labelEnd(script: string, from: number): number {
  const match = /[;\n}]/.exec(script.slice(from, from + 200));
  return match === null ? lineEnd(script, from) : from + match.index;
}
