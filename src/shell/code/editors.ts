import { danger } from "../rules/verb-table.js";
import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import type { CodeEffects } from "./effects.js";
import { shellText } from "./values.js";

/** Longer scripts for an editor are not read line by line. */
const MOST_LINES = 400;

/** `!cmd`, `%!cmd`, `r !cmd`, `w !cmd`, with the words that may stand in front. */
const ESCAPE =
  /^[:\s]*(?:(?:silent|sil|noautocmd|keepjumps|execute|exe|normal|term|terminal)!?\s+["']?:?)*(?:[%.$\d,'<>/+-]*\s*)?(?:(?:r|re|read|w|write|b)\s*)?!+\s*(\S[\s\S]*)$/;
const TERMINAL = /^[:\s]*(?:term|terminal|sh|shell)\s+(\S[\s\S]*)$/;
/** Functions of editor languages that reach a shell. */
const CALL =
  /\b(?:system|systemlist|termopen|jobstart|job_start|term_start|os\.execute|io\.popen|os\.system)\s*\(\s*(?:\[\s*)?(["'])((?:(?!\1)[^\\]|\\.)*)\1/g;
const EMPTIES = /^[:\s]*(?:%|1,\$|g\/(?:\^|\.|\.\*)?\/)\s*(?:d|de|del|delete)(?:\s|$|[|_!])/;
const KEEPS = /^[:\s]*(?:x|wq|w|wa|xa|wqa|ZZ|update|up|xit|write)!?(?:\s|$)/;

/** What the commands given to vi, ex, ed and their kin start in a shell. */
export function editorEffects(command: SimpleCommand): CodeEffects {
  const lines = scriptLines(command);
  const shell: string[] = [];
  let emptied: ShellWord | undefined;
  let kept = false;
  for (const { line, word } of lines) {
    const text = ESCAPE.exec(line)?.[1] ?? TERMINAL.exec(line)?.[1];
    if (text !== undefined)
      shell.push(shellText(text.replace(/["']$/, (end) => (/["']:?!/.test(line) ? "" : end))));
    if (/\(/.test(line)) for (const match of line.matchAll(CALL)) shell.push(shellText(match[2] ?? UNKNOWN));
    if (EMPTIES.test(line)) emptied = word;
    if (KEEPS.test(line)) kept = true;
  }
  const finding =
    emptied !== undefined && kept
      ? danger("truncate.file", "empties a file, its content is gone", emptied)
      : lines.length >= MOST_LINES
        ? danger("interpreter.unreadable", "gives an editor more commands than can be read")
        : undefined;
  return { shell, opaque: false, finding };
}

interface ScriptLine {
  readonly line: string;
  readonly word: ShellWord;
}

function scriptLines(command: SimpleCommand): readonly ScriptLine[] {
  const words: ShellWord[] = [];
  for (const [index, word] of command.args.entries()) {
    const before = command.args[index - 1]?.text ?? "";
    if (/^(?:-c|--cmd|-sc|-Sc|-esc|-sec|-ec|-nc|-es?c|-Es?c)$/.test(before)) words.push(word);
    else {
      const attached = /^(?:\+|--cmd=|-c(?=\S))([\s\S]+)$/.exec(word.text)?.[1];
      if (attached !== undefined) words.push({ ...word, text: attached });
    }
  }
  const { input } = command;
  if (input.kind === "text" && readsInput(command)) words.push(input.text);
  return words.flatMap((word) => linesOf(word.text).map((line) => ({ line, word }))).slice(0, MOST_LINES);
}

/** `ed` always, the others when told to run without a screen. */
function readsInput({ program, args }: SimpleCommand): boolean {
  return /^(?:ed|red|ex)$/.test(program) || args.some(({ text }) => /^-(?:e?s|es|Es|e|E)$/.test(text));
}

/** `|` parts commands unless one of them is a shell command, which takes all the rest. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const line of text.split("\n").slice(0, MOST_LINES)) {
    const parts = line.split("|");
    for (const [index, part] of parts.entries()) {
      if (ESCAPE.test(part) || /\(/.test(part)) {
        lines.push(parts.slice(index).join("|"));
        break;
      }
      lines.push(part);
    }
  }
  return lines;
}
