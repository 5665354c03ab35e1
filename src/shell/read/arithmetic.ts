import type { ArithmeticExpression } from "./parse.js";

/** The value of an expression made of known whole numbers; undefined for everything else. */
export function evaluateArithmetic(
  expression: ArithmeticExpression | undefined,
  lookup: (name: string) => string | undefined,
): number | undefined {
  if (expression === undefined) return undefined;
  const result = evaluate(expression, lookup, 0);
  return result !== undefined && Number.isSafeInteger(result) ? result : undefined;
}

function evaluate(
  expression: ArithmeticExpression,
  lookup: (name: string) => string | undefined,
  depth: number,
): number | undefined {
  if (depth > 64) return undefined;
  const inner = (part: ArithmeticExpression): number | undefined => evaluate(part, lookup, depth + 1);
  switch (expression.type) {
    case "ArithmeticGroup":
      return inner(expression.expression);
    case "ArithmeticWord":
      return numberOf(expression.value, lookup);
    case "ArithmeticUnary": {
      const operand = inner(expression.operand);
      if (operand === undefined) return undefined;
      if (expression.operator === "-") return -operand;
      return expression.operator === "+" ? operand : undefined;
    }
    case "ArithmeticBinary": {
      const left = inner(expression.left);
      const right = inner(expression.right);
      return left === undefined || right === undefined
        ? undefined
        : combine(expression.operator, left, right);
    }
    default:
      return undefined;
  }
}

function numberOf(word: string, lookup: (name: string) => string | undefined): number | undefined {
  if (/^\d{1,15}$/.test(word)) return Number.parseInt(word, word.startsWith("0") ? 8 : 10);
  if (/^0x[\da-f]{1,12}$/i.test(word)) return Number.parseInt(word, 16);
  const name = /^\$?\{?(\w+)\}?$/.exec(word)?.[1];
  const value = name === undefined ? undefined : lookup(name);
  return value !== undefined && /^-?\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function combine(operator: string, left: number, right: number): number | undefined {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? undefined : Math.trunc(left / right);
    case "%":
      return right === 0 ? undefined : left % right;
    case "**":
      return right >= 0 && right < 64 ? left ** right : undefined;
    default:
      return undefined;
  }
}
