import type { Span } from "../types.js";
import type { Context } from "./context.js";

/** Texts that the shell reads a second time: subscripts, prompts, numbers that are names of numbers. */

const SUBSTITUTION = /\$[({]|`/;

/** Runs the substitutions in a text, the way a here-document would. */
export function evaluateAgain(text: string, context: Context, span: Span): void {
  if (!SUBSTITUTION.test(text)) return;
  const end = "END_OF_TEXT";
  context.run.runText({ text: `: <<${end}\n${text}\n${end}\n`, context, span, foreign: true });
}

/** `a[$(…)]`: the subscript of an array is worked out where only a name was expected. */
export function evaluateSubscript(name: string, context: Context, span: Span): void {
  if (/^\s*[A-Za-z_]\w*\[/.test(name)) evaluateAgain(name, context, span);
}

/** Runs the substitutions of a text that the parser did not take apart, as words of a command. */
export function evaluateWords(text: string, context: Context, span: Span): void {
  if (/[<>]\(/.test(text)) context.run.runText({ text: `: ${text}`, context, span, foreign: true });
  else evaluateAgain(text, context, span);
}
