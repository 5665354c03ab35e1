import { AssertionError, deepStrictEqual } from "node:assert";
import { setTimeout as delay } from "node:timers/promises";
import { type ErrorCode, ToolError } from "../../tool/errors.js";

const SHOWN_CHARS = 600;

export function same<T>(seen: T, expected: T, what: string): void {
  try {
    deepStrictEqual(seen, expected);
  } catch {
    fail({ what, expected: shown(expected), seen: shown(seen) });
  }
}

export function matches(seen: string, expected: RegExp, what: string): void {
  if (!expected.test(seen)) fail({ what, expected: `something like ${expected}`, seen: shown(seen) });
}

export function holds(condition: boolean, what: string, seen: unknown): asserts condition {
  if (!condition) fail({ what, expected: "it to be so", seen: shown(seen) });
}

export function fail(problem: { what: string; expected: string; seen: string }): never {
  const { what, expected, seen } = problem;
  throw new AssertionError({ message: `${what}: expected ${expected}, saw ${seen}` });
}

/** The refusal must be one that a caller can act on: a ToolError with a sentence. */
export async function refused(
  work: Promise<unknown>,
  expected: { readonly what: string; readonly like?: RegExp; readonly code?: ErrorCode | undefined },
): Promise<ToolError> {
  const { what, like, code } = expected;
  let answer: unknown;
  try {
    answer = await work;
  } catch (error) {
    if (!ToolError.isInstance(error)) {
      fail({
        what,
        expected: "a ToolError",
        seen: error instanceof Error ? `${error.name}: ${error.message}` : shown(error),
      });
    }
    if (like !== undefined) matches(error.message, like, `${what}: the message`);
    if (code !== undefined) same(error.code, code, `${what}: the code of “${error.message}”`);
    return error;
  }
  fail({ what, expected: "an error", seen: `the answer ${shown(answer)}` });
}

/** Fails when the work takes longer; the work itself is not stopped. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const end = new AbortController();
  const late = delay(ms, "late" as const, { signal: end.signal }).catch(() => "late" as const);
  try {
    const first = await Promise.race([work.then((value) => ({ value })), late]);
    if (first === "late")
      fail({ what, expected: `it to be over within ${ms} ms`, seen: "it still going on" });
    return first.value;
  } finally {
    end.abort();
  }
}

/** Asks again and again until the answer is right. */
export async function eventually(
  what: string,
  ask: () => Promise<boolean> | boolean,
  withinMs = 10_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await ask())) {
    if (Date.now() > deadline) fail({ what, expected: `it to be so within ${withinMs} ms`, seen: "never" });
    await delay(25);
  }
}

/** Some shells tell that the program they waited for was ended; that is theirs to say. */
export function withoutNotice(output: string): string {
  return output.replace(/(?:Terminated|Killed)\n$/, "");
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, each) => (typeof each === "bigint" ? String(each) : each));
  if (text === undefined || text.length <= SHOWN_CHARS) return String(text);
  return `${text.slice(0, SHOWN_CHARS / 2)} … ${text.slice(-SHOWN_CHARS / 2)} (${text.length} characters)`;
}
