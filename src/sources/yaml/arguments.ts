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
      const [first] = holesOf(template);
      for (const word of words) {
        if (first !== undefined) check(word, { spec, template, parameter: first.name, onlyOperands });
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
    readonly parameter: string;
    readonly onlyOperands: boolean;
  },
): void {
  if (word.includes("\0"))
    throw new UnusableArgument(at.parameter, "it holds a NUL character, which cannot be passed to a program");
  const beginsWithValue =
    at.template.kind === "value" || (at.template.kind === "text" && typeof at.template.parts[0] !== "string");
  if (!word.startsWith("-") || !beginsWithValue || at.onlyOperands) return;
  if (at.spec.parameters.find(({ name }) => name === at.parameter)?.allowDash === true) return;
  throw new UnusableArgument(
    at.parameter,
    'it begins with "-" and the program would take it for an option; the tool\'s file can allow it with ' +
      'allow_dash: true, or put "--" before it',
  );
}

/** The vector as a line that a shell would read as exactly these arguments, for those who judge and show it. */
export function commandLine(vector: readonly string[], stdin?: string): string {
  const line = vector.map(quoted).join(" ");
  return stdin === undefined || stdin === "" ? line : `${line} <<< ${quoted(stdin)}`;
}

function quoted(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
