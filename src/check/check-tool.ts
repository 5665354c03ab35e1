import { setTimeout as wait } from "node:timers/promises";
import type { Runtime } from "../runtime/runtime.js";
import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { ERROR_CODES } from "../tool/errors.js";
import { badArguments, valueFor } from "./generate.js";
import { Random } from "./random.js";

export interface Violation {
  readonly kind: CheckKind;
  readonly what: string;
  /** The arguments that showed it, shortened. */
  readonly args: string;
}

export type CheckKind = "good arguments" | "bad arguments" | "abort" | "concurrent" | "large input";

export interface CheckReport {
  readonly tool: string;
  readonly seed: number;
  readonly runs: Readonly<Record<CheckKind, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
}

const LARGEST_RESULT = 200_000;
const CONCURRENT = 8;

/**
 * Calls a tool in ways it may not have been tried in: arguments made from its schema, broken ones, aborts at
 * random moments, many at once, large input. What must hold: every call ends with one well-formed, bounded
 * result in its time, and nothing escapes as an unhandled rejection.
 */
export async function checkTool(options: {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly tool: string;
  readonly runs: number;
  readonly seed: number;
  /** Longest a call may take, deadline and stopping included. */
  readonly patienceMs: number;
  onProgress?(kind: CheckKind): void;
}): Promise<CheckReport> {
  const { session, tool, runs, seed } = options;
  const random = new Random(seed);
  const violations: Violation[] = [];
  const outcomes: Record<string, number> = {};
  const done: Record<CheckKind, number> = {
    "good arguments": 0,
    "bad arguments": 0,
    abort: 0,
    concurrent: 0,
    "large input": 0,
  };
  const schema = options.runtime.registry.get(tool)?.parameters ?? {};
  const good = () => valueFor(schema, random) as Record<string, unknown>;
  const note = (kind: CheckKind, what: string, args: unknown) =>
    violations.push({ kind, what, args: shorten(args) });
  const escaped = (error: unknown) => note("good arguments", `unhandled rejection: ${String(error)}`, {});
  process.on("unhandledRejection", escaped);

  const once = async (kind: CheckKind, args: unknown, signal?: AbortSignal): Promise<void> => {
    done[kind] += 1;
    const result = await patient(
      session.call({ name: tool, arguments: args }, signal === undefined ? {} : { signal }),
      options.patienceMs,
    );
    if (result === undefined) return void note(kind, `no result within ${options.patienceMs / 1000} s`, args);
    outcomes[result.error?.code ?? "ok"] = (outcomes[result.error?.code ?? "ok"] ?? 0) + 1;
    for (const what of malformations(result)) note(kind, what, args);
  };

  try {
    for (let index = 0; index < runs; index += 1) {
      options.onProgress?.("good arguments");
      await once("good arguments", good());
      await once("bad arguments", badArguments(good(), random));
      const controller = new AbortController();
      const aborting = wait(random.int(0, 20)).then(() => controller.abort());
      await once("abort", good(), controller.signal);
      await aborting;
    }
    options.onProgress?.("concurrent");
    await Promise.all(Array.from({ length: CONCURRENT }, () => once("concurrent", good())));
    options.onProgress?.("large input");
    await once(
      "large input",
      Object.fromEntries(
        Object.entries(good()).map(([name, value]) => [
          name,
          typeof value === "string" ? "y".repeat(2_000_000) : value,
        ]),
      ),
    );
    await wait(0);
  } catch (error) {
    note("good arguments", `the call rejected: ${String(error)}`, {});
  } finally {
    process.off("unhandledRejection", escaped);
  }
  return { tool, seed, runs: done, outcomes, violations };
}

/** What is wrong with a result; nothing for a well-formed one. */
function malformations(result: CallResult): readonly string[] {
  const problems: string[] = [];
  const shown = textOf(result.content);
  if (result.ok !== (result.error === undefined)) problems.push("ok and error contradict each other");
  if (result.content.length === 0) problems.push("the result is empty");
  if (!result.truncated && shown.length > LARGEST_RESULT)
    problems.push(`the result has ${shown.length} characters and was not cut`);
  if (result.error?.code === "bad_result") problems.push(result.error.message);
  if (result.error?.code === "internal") problems.push(`a defect: ${result.error.message}`);
  if (result.error !== undefined && !ERROR_CODES.includes(result.error.code))
    problems.push(`unknown error code ${result.error.code}`);
  try {
    JSON.stringify(result);
  } catch {
    problems.push("the result cannot be written as JSON");
  }
  return problems;
}

async function patient<T>(work: Promise<T>, patienceMs: number): Promise<T | undefined> {
  const controller = new AbortController();
  const late = wait(patienceMs, undefined, { signal: controller.signal }).catch(() => undefined);
  try {
    return await Promise.race([work, late as Promise<undefined>]);
  } finally {
    controller.abort();
  }
}

function shorten(args: unknown): string {
  const text = typeof args === "string" ? args : (JSON.stringify(args) ?? String(args));
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}
