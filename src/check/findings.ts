import { messageOf } from "../base/errno.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { ERROR_CODES } from "../tool/errors.js";
import type { CheckKind } from "./check-tool.js";

export interface Violation {
  readonly kind: CheckKind;
  readonly what: string;
  /** The arguments that showed it first, shortened. */
  readonly args: string;
  readonly times: number;
}

const LONGEST_WHAT = 300;
const LONGEST_ARGS = 200;

/** The same problem found again is counted, not listed again. */
export class Findings {
  readonly #found = new Map<string, { kind: CheckKind; what: string; args: string; times: number }>();

  add(finding: { readonly kind: CheckKind; readonly what: string; readonly args: unknown }): void {
    const what = shorten(finding.what, LONGEST_WHAT);
    const key = `${finding.kind}\0${what}`;
    const known = this.#found.get(key);
    if (known !== undefined) known.times += 1;
    else this.#found.set(key, { kind: finding.kind, what, args: textOfArguments(finding.args), times: 1 });
  }

  all(): readonly Violation[] {
    return [...this.#found.values()];
  }
}

function textOfArguments(args: unknown): string {
  return shorten(typeof args === "string" ? args : (JSON.stringify(args) ?? String(args)), LONGEST_ARGS);
}

function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
}

const LARGEST_RESULT = 200_000;
/** How the path words a thrown value that is not an Error. */
const THROWN_PRIMITIVE =
  /^Tool execution failed: (null|undefined|string|number|bigint|boolean|symbol|function): /;

/** What is wrong with a result; nothing for a well-formed one. */
export function malformations(result: CallResult): readonly string[] {
  const problems: string[] = [];
  const { error } = result;
  const shown = textOf(result.content);
  if (result.ok !== (error === undefined)) problems.push("ok and error contradict each other");
  if (result.content.length === 0) problems.push("the result is empty");
  if (!result.truncated && shown.length > LARGEST_RESULT)
    problems.push(`the result has ${shown.length} characters and was not cut`);
  if (error?.code === "bad_result") problems.push(error.message);
  if (error?.code === "internal") problems.push(`a defect: ${error.message}`);
  const [, primitive] = THROWN_PRIMITIVE.exec(error?.message ?? "") ?? [];
  if (primitive !== undefined) problems.push(`it throws a value that is not an Error (${primitive})`);
  if (error !== undefined && !ERROR_CODES.includes(error.code))
    problems.push(`unknown error code ${error.code}`);
  try {
    JSON.stringify(result.structured);
  } catch (thrown) {
    problems.push(`what it returns is not JSON: ${firstLine(thrown)}`);
  }
  if ("polluted" in Object.prototype) {
    delete (Object.prototype as { polluted?: unknown }).polluted;
    problems.push("it lets arguments change the prototype of every object");
  }
  return problems;
}

function firstLine(thrown: unknown): string {
  return messageOf(thrown).split("\n", 1)[0] ?? "";
}
