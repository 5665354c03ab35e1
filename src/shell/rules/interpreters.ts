import { effectsOfAwk } from "../code/awk.js";
import { type CodeEffects, effectsOfCode } from "../code/effects.js";
import { exhaustionOf } from "../code/endless.js";
import { inlineCode, isStandardInput } from "../code/inline.js";
import type { Language } from "../code/languages.js";
import { notebookCommands } from "../code/literals.js";
import { commandsOfSed } from "../code/sed.js";
import { isWhollyUnknown, shellText } from "../code/values.js";
import { parseOptions } from "../read/options.js";
import { type Finding, type Rule, type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { isDownloadPlace } from "./places.js";
import { danger, valuesOf } from "./row.js";

/** More commands than this in one program are not followed one by one. */
const MOST_COMMANDS = 64;
const NO_EFFECTS: CodeEffects = { shell: [], opaque: false };
const judged = new WeakMap<SimpleCommand, CodeEffects>();

/**
 * What inline code of a command would run, in shell commands: those it starts itself, and for calls that
 * delete, move, write or fetch, the command that does the same. Undefined for programs that run no code.
 */
export function codeCommands(
  command: SimpleCommand,
): { readonly shell: readonly string[]; readonly opaque: boolean } | undefined {
  const effects = effectsOf(command);
  return effects === NO_EFFECTS ? undefined : effects;
}

/** The file that holds the program an interpreter is about to run, when one is named. */
export function codeScript(command: SimpleCommand): ShellWord | undefined {
  return inlineCode(command)?.script;
}

function effectsOf(command: SimpleCommand): CodeEffects {
  const known = judged.get(command);
  if (known !== undefined) return known;
  const effects = isSed(command.program) ? sedEffects(command) : inlineEffects(command);
  judged.set(command, effects);
  return effects;
}

function inlineEffects(command: SimpleCommand): CodeEffects {
  const code = inlineCode(command);
  if (code === undefined) return NO_EFFECTS;
  const texts: ShellWord[] = [...code.texts];
  if (code.fromInput && command.input.kind === "text") texts.push(command.input.text);
  if (texts.length === 0) return NO_EFFECTS;
  const found =
    texts.length > 1 && code.language.name === "perl"
      ? [{ ...(texts[0] as ShellWord), text: texts.map(({ text }) => text).join("\n") }]
      : texts;
  if (code.language.name === "awk") {
    const given = awkVariables(command);
    return combine(
      found.map((word) => {
        if (isHidden(word)) return hidden(word);
        const effects = effectsOfAwk(word.text, { language: code.language, given });
        const finding =
          effects.finding ?? (exhaustionOf(word.text) && danger("abuse.exhaust", "goes on without end"));
        return withSpan({ ...effects, finding }, word);
      }),
    );
  }
  return combine(found.map((word) => effectsOfText(word, code.language)));
}

/** `-v name=value`. */
function awkVariables({ args }: SimpleCommand): ReadonlyMap<string, string> {
  const given = args.flatMap(({ text }, index) => {
    const setting = /^(?:-v|--assign)$/.test(args[index - 1]?.text ?? "")
      ? text
      : /^(?:-v|--assign=)(.+)$/s.exec(text)?.[1];
    const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(setting ?? "") ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return new Map(given);
}

function withSpan(effects: CodeEffects, word: ShellWord): CodeEffects {
  return effects.finding === undefined
    ? effects
    : { ...effects, finding: { ...effects.finding, span: word.span } };
}

const isHidden = ({ text }: ShellWord): boolean => isWhollyUnknown(text) && text.includes(UNKNOWN);

const hidden = (word: ShellWord): CodeEffects => ({
  shell: [],
  opaque: true,
  finding: danger("interpreter.opaque-code", "runs code that only the running shell knows", word),
});

function effectsOfText(word: ShellWord, language: Language): CodeEffects {
  if (isHidden(word)) return hidden(word);
  const notebook = language.name === "python" ? notebookCommands(word.text) : [];
  if (notebook.length > 0) return { shell: notebook.map(shellText), opaque: false };
  return withSpan(effectsOfCode(word.text, language), word);
}

function isSed(program: string): boolean {
  return program === "sed" || program === "gsed" || program === "ssed";
}

function sedEffects(command: SimpleCommand): CodeEffects {
  const options = parseOptions(command.args, {
    taking: ["e", "expression", "f", "file", "l", "line-length"],
  });
  const given = valuesOf(options, "e", "expression");
  const files = valuesOf(options, "f", "file");
  const { input } = command;
  const typed = files.some(isStandardInput) && input.kind === "text" ? [input.text] : [];
  const scripts = given.length + files.length > 0 ? [...given, ...typed] : options.operands.slice(0, 1);
  const unseen = scripts.find((word) => isHidden(word) && word.outputs !== undefined);
  if (unseen !== undefined) return hidden(unseen);
  const all = scripts.flatMap(({ text }) => commandsOfSed(text));
  if (all.length === 0) return NO_EFFECTS;
  const commands = all.slice(0, MOST_COMMANDS);
  const opaque = all.length > MOST_COMMANDS || commands.some(isWhollyUnknown);
  return {
    shell: commands.filter((text) => !isWhollyUnknown(text)).map(shellText),
    opaque,
    finding: opaque ? danger("interpreter.opaque-command", "runs lines of its input as commands") : undefined,
  };
}

function combine(all: readonly CodeEffects[]): CodeEffects {
  const hard = all.find(({ finding }) => finding?.level === "hardline");
  return {
    shell: all.flatMap(({ shell }) => shell),
    opaque: all.some(({ opaque }) => opaque),
    finding: (hard ?? all.find(({ finding }) => finding !== undefined))?.finding,
  };
}

/** What inline code does that no shell command stands for, and programs that lie elsewhere. */
export const judgeCode: Rule = (command) => effectsOf(command).finding ?? remoteModule(command);

/** `deno run https://…`, `node --import data:…`: the program itself lies elsewhere. */
function remoteModule(command: SimpleCommand): Finding | undefined {
  if (!/^(?:deno|bun|node|nodejs|tsx)$/.test(command.program)) return undefined;
  const word = command.args
    .slice(0, 12)
    .find(({ text }) => /^(?:--(?:import|require|loader)=)?(?:https?|data):/i.test(text));
  const preloaded = command.args.slice(0, 12).find((one, index) => {
    const before = command.args[index - 1]?.text ?? "";
    if (/^(?:-r|--require|--import|--loader|--experimental-loader|--preload)$/.test(before))
      return isDownloadPlace(one);
    const path = /^--(?:require|import|loader|experimental-loader|preload)=(.+)$/s.exec(one.text)?.[1];
    return path !== undefined && isDownloadPlace({ ...one, text: path });
  });
  if (preloaded !== undefined)
    return danger("interpreter.foreign-file", "runs code from a place anybody can write", preloaded);
  const runs =
    command.program !== "deno" ||
    /^(?:run|install|test|bench|cache|serve|https?:.*)$/.test(command.args[0]?.text ?? "");
  return word !== undefined && runs && command.args[0]?.text !== "eval"
    ? danger("interpreter.remote-module", "runs code from the network", word)
    : undefined;
}
