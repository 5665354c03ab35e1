import { quoteIfNeeded } from "../../base/quote.js";
import { asText, holesOf, holeValue, type Template, type Values } from "./template.js";
import type { ArgumentGroup, CommandSpec } from "./tool-spec.js";

/** An argument that a program would not take as what it is. */
export class UnusableArgument extends Error {
  readonly parameter: string;

  constructor(parameter: string, why: string) {
    super(why);
    this.parameter = parameter;
  }
}

/**
 * The argument vector of one call. A value never becomes more or fewer arguments than the file says: a text is a
 * part of one argument, and only a list that stands alone gives one argument per item. Throws `UnusableArgument`.
 */
export function argumentsOf(spec: CommandSpec, args: Values): readonly string[] {
  const vector: string[] = [];
  let onlyOperands = false;
  for (const group of spec.command) {
    if (isLeftOut(group, args)) continue;
    for (const template of group) {
      const words = wordsOf(template, args);
      for (const word of words) {
        if (template.kind !== "literal") check(word, { spec, template, args, onlyOperands });
        vector.push(word);
      }
      if (template.kind === "literal" && template.value === "--") onlyOperands = true;
    }
  }
  return vector;
}

/** Without a value there is no argument, and nothing of what belongs to it. */
function isLeftOut(group: ArgumentGroup, args: Values): boolean {
  return group
    .flatMap(holesOf)
    .some((hole) => holeValue(hole, args) === undefined || holeValue(hole, args) === null);
}

function wordsOf(template: Template, args: Values): readonly string[] {
  if (template.kind === "literal") return [String(template.value)];
  if (template.kind === "value") {
    const value = holeValue(template.expression, args);
    return Array.isArray(value) ? value.map(asText) : [asText(value)];
  }
  if (template.kind !== "text") return [];
  return [
    template.parts.map((part) => (typeof part === "string" ? part : asText(holeValue(part, args)))).join(""),
  ];
}

function check(
  word: string,
  at: {
    readonly spec: CommandSpec;
    readonly template: Template;
    readonly args: Values;
    readonly onlyOperands: boolean;
  },
): void {
  if (word.includes("\0")) {
    const guilty = holesOf(at.template).find((hole) => asText(holeValue(hole, at.args)).includes("\0"));
    throw new UnusableArgument(
      guilty?.name ?? "",
      "it holds a NUL character, which cannot be passed to a program",
    );
  }
  const parameter = beginner(at.template, at.args);
  if (!word.startsWith("-") || parameter === undefined || at.onlyOperands) return;
  if (at.spec.parameters.find(({ name }) => name === parameter)?.allowDash === true) return;
  throw new UnusableArgument(
    parameter,
    'it begins with "-" and the program would take it for an option; the tool\'s file can allow it with ' +
      'allow_dash: true, or put "--" before it',
  );
}

/** The parameter that decides how a word begins; none when that stands in the file. */
function beginner(template: Template, args: Values): string | undefined {
  if (template.kind === "value") return template.expression.name;
  if (template.kind !== "text") return undefined;
  const [first] = template.parts;
  if (first === undefined || typeof first === "string") return undefined;
  const filled = template.parts.find(
    (part) => typeof part === "string" || asText(holeValue(part, args)) !== "",
  );
  return filled === undefined || typeof filled === "string" ? first.name : filled.name;
}

/** The vector as a line that a shell would read as exactly these arguments, for those who judge and show it. */
export function commandLine(vector: readonly string[], stdin?: string): string {
  const line = vector.map(quoteIfNeeded).join(" ");
  return stdin === undefined || stdin === "" ? line : `${line} <<< ${quoteIfNeeded(stdin)}`;
}
