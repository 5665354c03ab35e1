import type { SyntaxNode, TestExpression, Word } from "./parse.js";

/** Variables that surely hold something when a condition was true, and when it was false. */
export interface Guards {
  readonly success: readonly string[];
  readonly failure: readonly string[];
}

const NONE: Guards = { success: [], failure: [] };
/** Files of these kinds have a name. */
const ABOUT_FILES = /^-[abcdefghkprstuwxGLNOS]$/;

/** `[ -n "$x" ]`, `[[ -z $x ]]`, `test -d "$x"` and lists of them. */
export function guardsOf(node: SyntaxNode | undefined): Guards {
  switch (node?.type) {
    case "Script":
    case "CompoundList":
      return guardsOf(node.commands.at(-1));
    case "Statement":
      return node.background === true ? NONE : guardsOf(node.command);
    case "Pipeline": {
      if (node.commands.length !== 1) return NONE;
      const negated = node.prefixes.filter((prefix) => prefix.type === "Negation").length % 2 === 1;
      return turned(guardsOf(node.commands[0]), negated);
    }
    case "AndOr": {
      const [operator] = node.operators;
      return node.operators.every((one) => one === operator)
        ? combined(node.commands.map(guardsOf), operator === "&&")
        : NONE;
    }
    case "Command": {
      const name = node.name?.value;
      if ((name !== "[" && name !== "test") || node.prefix.length > 0) return NONE;
      const words = node.suffix.flatMap((part) => (part.type === "Word" ? [part] : []));
      return ofWords(name === "[" ? words.slice(0, -1) : words);
    }
    case "TestCommand":
      return ofExpression(node.expression);
    default:
      return NONE;
  }
}

function turned({ success, failure }: Guards, negated: boolean): Guards {
  return negated ? { success: failure, failure: success } : { success, failure };
}

/** All parts of `a && b` were true when it is, all parts of `a || b` were false when it is not. */
function combined(all: readonly Guards[], and: boolean): Guards {
  return and
    ? { success: all.flatMap((guards) => guards.success), failure: [] }
    : { success: [], failure: all.flatMap((guards) => guards.failure) };
}

function ofWords(words: readonly Word[]): Guards {
  const [first, second, third] = words;
  if (first?.value === "!") return turned(ofWords(words.slice(1)), true);
  if (first === undefined || words.length > 3) return NONE;
  // Without quotes an empty variable is no word at all, and `[ -n ]` is true.
  if (second === undefined) return filled(quotedName(first));
  if (third === undefined) {
    if (first.value === "-z") return turned(filled(quotedName(second) ?? bareName(second)), true);
    return first.value === "-n" || ABOUT_FILES.test(first.value) ? filled(quotedName(second)) : NONE;
  }
  return compared(quotedName(first), second.value, third);
}

function ofExpression(expression: TestExpression): Guards {
  switch (expression.type) {
    case "TestUnary": {
      const name = quotedName(expression.operand) ?? bareName(expression.operand);
      if (expression.operator === "-z") return turned(filled(name), true);
      return expression.operator === "-n" || ABOUT_FILES.test(expression.operator) ? filled(name) : NONE;
    }
    case "TestBinary":
      return compared(
        quotedName(expression.left) ?? bareName(expression.left),
        expression.operator,
        expression.right,
      );
    case "TestLogical":
      return combined(expression.operands.map(ofExpression), expression.operator === "&&");
    case "TestNot":
      return turned(ofExpression(expression.operand), expression.negations.length % 2 === 1);
    case "TestGroup":
      return ofExpression(expression.expression);
    default:
      return NONE;
  }
}

/** `[ "$x" = "" ]`, `[ "$x" != "" ]`. */
function compared(name: string | undefined, operator: string, right: Word): Guards {
  if (!/^(?:""|'')$/.test(right.text)) return NONE;
  if (operator === "!=") return filled(name);
  return operator === "=" || operator === "==" ? turned(filled(name), true) : NONE;
}

function filled(name: string | undefined): Guards {
  return name === undefined ? NONE : { success: [name], failure: [] };
}

function quotedName({ text }: Word): string | undefined {
  return /^"(.*)"$/s.test(text) ? nameIn(text.slice(1, -1)) : undefined;
}

function bareName({ text }: Word): string | undefined {
  return nameIn(text);
}

/** `$x`, `${x}`, and `${x:-}`, which is for shells that complain about unset variables. */
function nameIn(text: string): string | undefined {
  const match = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-)?\})$/.exec(text);
  return match?.[1] ?? match?.[2];
}
