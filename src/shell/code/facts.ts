import type { Language } from "./languages.js";
import type { CodeValue } from "./values.js";

/** One call met in a program, names followed to the module they come from. */
export interface CodeCall {
  /** `os.system`, `fs.rmSync`; begins with a dot for a method of a value: `.unlink`. */
  readonly name: string;
  readonly args: readonly CodeValue[];
  readonly keywords: ReadonlyMap<string, CodeValue>;
  readonly receiver?: CodeValue;
}

/** What the reader tells about a program. */
export interface CodeFacts {
  readonly calls: CodeCall[];
  /** Text between backticks, handed to a shell by the language itself. */
  readonly shellTexts: string[];
  /** Every name and every known string, for questions that need no more. */
  readonly names: Set<string>;
  /** Modules and values read as a whole: `os.environ`, `process.env.HOME`. */
  readonly members: Set<string>;
  /** Strings, as far as they are known. */
  readonly texts: string[];
}

const answers = new WeakMap<CodeFacts, Map<(call: CodeCall) => boolean, boolean>>();

/** Whether the program makes such a call anywhere; asked for call after call, and answered once. */
export function someCall(facts: CodeFacts, test: (call: CodeCall) => boolean): boolean {
  const known = answers.get(facts) ?? new Map<(call: CodeCall) => boolean, boolean>();
  answers.set(facts, known);
  const answer = known.get(test) ?? facts.calls.some(test);
  known.set(test, answer);
  return answer;
}

/** Gives the value of a call from its name and arguments. */
export type CallEvaluator = (call: CodeCall) => CodeValue;

export interface ReaderTools {
  readonly evaluate: CallEvaluator;
  /** Functions that take arguments without parentheses in languages that allow it. */
  readonly bare: (name: string) => boolean;
  /** Values of names such as `process.env.HOME`. */
  readonly member: (name: string) => CodeValue | undefined;
}

export interface CodeSetting {
  readonly language: Language;
  readonly tools: ReaderTools;
}
