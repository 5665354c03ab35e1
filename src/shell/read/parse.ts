import { forEachChild, parse, type Script, type SyntaxNode } from "unbash";

export type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Case,
  Command,
  CompoundCommand,
  CompoundList,
  For,
  HereDoc,
  If,
  ParameterExpansionPart,
  ParameterOperation,
  Pipeline,
  Redirected,
  Redirection,
  Script,
  Select,
  Statement,
  SyntaxNode,
  TestExpression,
  While,
  Word,
  WordPart,
} from "unbash";
export { forEachChild } from "unbash";

/**
 * The tree of a shell text, or undefined when any part of it, also inside a substitution, is not valid bash.
 * The parser mends what it cannot read; a mended tree is not what bash would run.
 */
export function parseShell(text: string): Script | undefined {
  if (isTooNested(text)) return undefined;
  const script = parse(text);
  if (!SUBSTITUTION.test(text)) return (script.errors?.length ?? 0) === 0 ? script : undefined;
  return isWhole(script) ? script : undefined;
}

const SUBSTITUTION = /[`$<>][({]|`/;
const MOST_BRACES = 512;
const DEEPEST_SUBSTITUTION = 64;
const MOST_HERE_DOCUMENTS = 512;

/**
 * Hundreds of unclosed braces in one word, substitutions within substitutions, or here-documents that begin on
 * one line cost the parser the square of their number. No honest command has them, so they are refused before
 * it starts.
 */
function isTooNested(text: string): boolean {
  if (text.length < 2 * DEEPEST_SUBSTITUTION) return false;
  let braces = 0;
  let depth = 0;
  let quote = 0;
  let documents = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case BACKSLASH:
        if (quote !== SINGLE) at++;
        break;
      case SINGLE:
        if (quote !== DOUBLE) quote = quote === SINGLE ? 0 : SINGLE;
        break;
      case DOUBLE:
        if (quote !== SINGLE) quote = quote === DOUBLE ? 0 : DOUBLE;
        break;
      case BRACE:
        if (text.charCodeAt(at - 1) !== DOLLAR && quote !== SINGLE && ++braces > MOST_BRACES) {
          if (quote === 0 || depth > 0) return true;
        }
        break;
      case PARENTHESIS:
        if (text.charCodeAt(at - 1) === DOLLAR && ++depth > DEEPEST_SUBSTITUTION) return true;
        braces = 0;
        break;
      case CLOSING:
        if (depth > 0) depth--;
        braces = 0;
        break;
      case LESS:
        if (quote === 0 && text.charCodeAt(at - 1) === LESS && ++documents > MOST_HERE_DOCUMENTS) return true;
        break;
      case NEWLINE:
        documents = 0;
        braces = 0;
        break;
      case SPACE:
      case TAB:
      case SEMICOLON:
      case PIPE:
      case AMPERSAND:
        braces = 0;
    }
  }
  return false;
}

const code = (character: string): number => character.charCodeAt(0);
const BACKSLASH = code("\\");
const SINGLE = code("'");
const DOUBLE = code('"');
const BRACE = code("{");
const DOLLAR = code("$");
const PARENTHESIS = code("(");
const CLOSING = code(")");
const LESS = code("<");
const SPACE = code(" ");
const TAB = code("\t");
const NEWLINE = code("\n");
const SEMICOLON = code(";");
const PIPE = code("|");
const AMPERSAND = code("&");

/** One word on its own, as brace expansion makes them; undefined when it is not exactly one. */
export function parseWord(text: string) {
  const script = parseShell(`: ${text}`);
  const command = script?.commands.length === 1 ? script.commands[0]?.command : undefined;
  if (command?.type !== "Command" || command.suffix.length !== 1) return undefined;
  const [word] = command.suffix;
  return word?.type === "Word" ? word : undefined;
}

/** Substitutions keep their errors to themselves, so every node has to be asked. */
function isWhole(script: SyntaxNode): boolean {
  const open: SyntaxNode[] = [script];
  let whole = true;
  const note = (child: SyntaxNode): void => {
    open.push(child);
  };
  for (let node = open.pop(); node !== undefined && whole; node = open.pop()) {
    if (node.type === "Script" && "errors" in node && (node.errors?.length ?? 0) > 0) whole = false;
    else if (!isPlainWord(node)) forEachChild(node, note);
  }
  return whole;
}

/** Words without quotes, dollars or backticks hold nothing that could be broken: most words, skipped for speed. */
function isPlainWord(node: SyntaxNode): boolean {
  return node.type === "Word" && /^[\w./:=,@%+~-]*$/.test(node.text);
}
