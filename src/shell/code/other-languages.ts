import { withHome } from "../rules/mentioned-paths.js";
import { UNKNOWN } from "../types.js";
import type { CodeEffects, EffectList } from "./effects.js";
import { isElsewhere } from "./literals.js";
import { quoteWithUnknowns, textValue } from "./values.js";

/**
 * Lua, R, Julia, Scala, Elixir, Lisps, Tcl, AppleScript and others. They are rare on command lines, so their text is
 * not parsed: whatever it quotes counts as a command when the code can start one, and as a path otherwise.
 */
export function effectsOfOther(text: string, list: EffectList): CodeEffects {
  const code = withMembers(withHome(withWholeTexts(withOwnNames(text))));
  const texts = textsIn(code);
  // `~/.netrc`, put together from the home and a name or written without quotes.
  for (const path of new Set(code.match(/(?<![\w/.])~\/+[\w./-]+/g)?.slice(0, MOST_TEXTS)))
    list.does(WRITES.test(code) ? `echo >> ${quoteWithUnknowns(path)}` : `cat -- ${quoteWithUnknowns(path)}`);
  if (FETCHES.test(code) && EVALUATES.test(code))
    list.note("interpreter.remote-module", "runs code from the network");
  if (STARTS.test(code)) {
    for (const text of texts.filter((one) => COMMAND.test(one))) list.runsText(text);
    // A program and its words in a list of texts.
    if (texts.length > 1) list.runsWords(texts.map(textValue));
    if (texts.length === 0 || JOINS.test(code)) list.opaque = true;
    // `spawn rm -rf x`, `exec rm x`: words of Tcl need no quotes.
    const bare = BARE_COMMAND.exec(code)?.[1];
    if (bare !== undefined) list.runsText(bare.replace(/[{}]/g, ""));
  } else {
    const writes = WRITES.test(code);
    const atHome = /HOME|USERPROFILE|home_?dir/i.test(code) ? texts.map((text) => `~${text}`) : [];
    for (const path of [...texts, ...atHome].filter((text) => /^(?:~?\/|\.env|\.ssh)/.test(text)))
      list.does(writes ? `echo >> ${quoteWithUnknowns(path)}` : `cat -- ${quoteWithUnknowns(path)}`);
  }
  for (const text of texts) if (/^\|\s*\w/.test(text)) list.runsText(text.slice(1));
  if (DELETES.test(code)) {
    for (const path of texts) list.does(`rm -rf -- ${quoteWithUnknowns(path)}`);
    list.note("interpreter.delete", "deletes files from code");
  }
  if (LOADS.test(code) && texts.some(isElsewhere))
    list.note("interpreter.foreign-file", "runs code from a place anybody can write");
  if (RUNS_TEXT.test(code)) list.note("interpreter.evaluated-text", "runs text as code that nobody can see");
  if (/\bfork\b/.test(code) && /\b(?:while|loop|forever|repeat)\b/.test(code))
    list.refuse("interpreter.fork-bomb", "starts copies of itself without end");
  return list.result();
}

const PIECES = /(["'])((?:(?!\1)[^\\\n])*)\1\s*(?:\.\.|\+\+?|<>|\^|~(?!\/)|&)\s*(["'])((?:(?!\3)[^\\\n])*)\3/;
/** Nobody cuts a name into more pieces than this. */
const MOST_PIECES = 32;

/** `local o = os`: another name for a module that starts or deletes things. */
function withOwnNames(text: string): string {
  let code = text;
  for (const [, name = "", module = ""] of [
    ...text.matchAll(/\b([A-Za-z_]\w*)\s*=\s*(os|io)\b(?!\s*[.[:(])/g),
  ].slice(0, 4))
    code = code.replace(new RegExp(`\\b${name}(?=\\s*[.[:])`, "g"), module);
  return code;
}

/** `"exe" .. "cute"` is `"execute"`, and so is `(concat "exe" "cute")`. */
function withWholeTexts(text: string): string {
  let code = text;
  for (let count = 0; count < MOST_PIECES && PIECES.test(code); count++)
    code = code.replace(PIECES, (_whole, quote, left, _other, right) => `${quote}${left}${right}${quote}`);
  return code.replace(
    /\((?:concat|string-append|str)((?:\s+"[^"\\]*")+)\s*\)/g,
    (_whole, pieces: string) => `"${[...pieces.matchAll(/"([^"]*)"/g)].map(([, piece]) => piece).join("")}"`,
  );
}

/** `os["execute"]` is `os.execute`. */
function withMembers(code: string): string {
  return code.replace(/(?<=\w)\[\s*(["'])([A-Za-z_]\w*)\1\s*\]/g, ".$2");
}

const STARTS =
  /\b(?:os\.execute|Sys\.command|io\.popen|os\.cmd|system[2*]?|shell|sh|cmd|spawn|exec\w*|readchomp|pipeline|ProcessBuilder|getRuntime|Process|callCommand|callProcess|readProcess|createProcess|proc|processLines|(?:async-)?shell-command|call-process|start-process|run-program|run|qqx|qx|Port\.open|doShellScript)\b\s*[("'`*\s[{]|shell\s+script|["'`\])]\s*\.?\s*!{1,2}(?!=)|\.lazyLines\b/;
const COMMAND = /^\s*[\w./~$-]+(?:\s|$)/;
/** Pieces that only the running program puts together. */
const JOINS =
  /["']\s*(?:\.\.|\+|<>|\+\+|&|\.)\s*\w|\w\s*(?:\.\.|\+|<>|\+\+|&)\s*["']|[#$]\{|\$\(|\bpaste0?\b|\bformat\b|\bsprintf\b|\b(?:execute|system2?|popen|cmd|run|shell|spawn|exec|Process)\(\s*[A-Za-z_$]|\b(?:shell-command|call-process|start-process|callCommand|run-program)\s+[A-Za-z_$(]/;
const FETCHES =
  /\burl-(?:retrieve|copy|insert)|\brequest-response|\bhttp(?:c|\.client|-get|_get|:request)|socket\.http|\burl\(\s*["']https?:|\bdownload(?:\.file)?\b|HTTP\.get|URL\(\s*["']https?:|openStream|\bhttp::geturl/i;
const EVALUATES =
  /\beval-(?:buffer|region|last-sexp|string)|\b(?:loadstring|load|dofile|include(?:_string|_dependency)?|source|eval|evaluate|eval_string|load-file|load-string|Code\.eval\w*|uplevel|subst)\b|GroovyShell|ScriptEngine|defineClass|URLClassLoader/;
const BARE_COMMAND = /(?:^|[;\n{[])\s*(?:spawn|exec)\s+(?:-\w+\s+)*([^"'`;\n\]]+)/;
const WRITES = /\b(?:write\w*|append\w*|puts|spit|saveRDS|sink|copy\w*)\b|["'](?:w|a|wb|ab)["']/i;
const DELETES =
  /\bos\.remove\b|\bunlink\b|\b(?:File|FileUtils|fs)\.(?:rm|delete)|\brm_rf?\b|(?<!\blist\s*=\s*)\brm\(\s*(?:["'`~]|homedir|joinpath|expanduser|pwd)|\bforeach\(\s*rm\b|\bremove(?:Item|File|Directory|Path)\w*|\bdelete-(?:file|directory|tree)|\bdelete(?:Recursively|Dir)\b|\.delete\(|\bfile\s+delete\b|\bfile\.remove\b|\brmdir\b|\bdel_dir(?:_r)?\b|\bfile:delete\b|\bdelete_(?:file|directory)\w*|\bos\/rm\b|\brmtree\b/;
const LOADS = /\b(?:load(?:-file|file|-library)?|dofile|include|source|require|run-script)\b/;
const RUNS_TEXT =
  /\b(?:loadstring|load|dofile|loadlib|eval_string|eval-string|include_string|evaluate|eval|source)\b\s*[("]/;

/** Longer programs are looked at no further. */
const MOST_TEXTS = 64;

function textsIn(code: string): readonly string[] {
  return [
    ...code.matchAll(/"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)'|`([^`]*)`|\[\[([\s\S]*?)\]\]/g),
  ]
    .slice(0, MOST_TEXTS)
    .map(([, double, single, backtick, long]) => double ?? single ?? backtick ?? long ?? "")
    .map((text) => text.replace(/\\(["'\\])/g, "$1").replace(/[#$]\{[^}]*\}/g, UNKNOWN))
    .filter((text) => text.trim() !== "");
}
