import type { ShellWord } from "../types.js";

/** How languages and tools of all kinds write the home of whoever runs them, with what glues it to a name. */
const HOME =
  /(?:\$\{HOME\}|\$HOME\b|\$\(HOME\)|\$(?:::)?env\(HOME\)|\$ENV\{["']?HOME["']?\}|ENV(?:IRON)?\[\s*["']HOME["']\s*\]|\b(?:[A-Za-z_]+[.:]{1,2})?(?:get_?env|lookupEnv|get_env|fetch|GetEnvironmentVariable|get-environment-variable|getProperty)[\s(]+["'](?:HOME|user\.home)["']\s*\)?|process\.env\.HOME\b|\b(?:os\.)?homedir\(\)|\$env:(?:HOME|USERPROFILE)\b|\(find-system-path\s+(?:'|\(quote\s+)home-dir\)*|\(user-homedir-pathname\)|System\.user_home!?(?:\(\))?|\bhomeDirectory(?:ForCurrentUser)?\b|\bgetHomeDirectory\b|\bDir\.home\b|\bPath\.home\(\))(?:[\s"'.,+&*)\]<>]*(?=["'/.]))?["']?/g;
const QUICK = /HOME|homedir|user\.home|home-dir|user_home|homeDirectory|HomeDirectory|\.home\b/;

/** A text in which the home is `~`, however it was written. */
export function withHome(text: string): string {
  return QUICK.test(text) ? text.replace(HOME, "~/") : text;
}

const NONE: readonly ShellWord[] = [];
/** Longer words are texts: those that programs run are read as such. */
const LONGEST = 2_000;

/** What a word may lead to: itself, the value in `--opt=PATH`, `-oPATH`, `key=PATH`, and the paths in `.once PATH`. */
export function pathsIn(word: ShellWord): readonly ShellWord[] {
  if (!/[/~]|\.h|HOME/i.test(word.text) && word.variables === undefined) return NONE;
  const text = withHome(word.text);
  if (text.length > LONGEST || !/[\s=:,;@"'`(<>|{]|^-\w[~/.]/.test(text))
    return text === word.text ? [word] : [{ ...word, text }];
  const pieces = text.replace(/^-\w(?=[~/.])/, "").split(/[\s=:,;@"'`()<>|{}]+/);
  return pieces.flatMap((piece) =>
    /[/~]|\.h/i.test(piece) ? [{ ...word, text: piece.replace(/^\/+(?=~)/, "").replace(/\[\]?$/, "") }] : [],
  );
}
