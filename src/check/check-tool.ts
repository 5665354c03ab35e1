import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { isAtOrBelow } from "../base/path.js";
import { isRecord } from "../base/record.js";
import type { Policy } from "../call/scope.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { describeThrown } from "../tool/thrown.js";
import type { AnyTool, CallContext, ToolExample } from "../tool/tool.js";
import { Findings, malformations, type Violation } from "./findings.js";
import { badArguments, Random, valueFor } from "./generate.js";
import type { ExampleOutcome } from "./run-example.js";

export const CHECK_KINDS = [
  "good arguments",
  "bad arguments",
  "abort",
  "timeout",
  "concurrent",
  "large input",
  "huge output",
  "worked example",
] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

export interface CheckReport {
  readonly tool: string;
  readonly seed: number;
  readonly runs: Readonly<Record<CheckKind, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  /** The same for two runs that sent the same arguments in the same order. */
  readonly arguments_hash: string;
  readonly remarks: readonly string[];
}

const NEVER_RAN = "its own code never ran: no call got past the checks before it";
const EXAMPLES_ONLY = "its own code ran with its worked examples only: odd arguments are too dangerous";

const CONCURRENT = 8;
/** Once told to stop, a call may take this long to end. */
const STOPPING_MS = 4_500;
/** Beyond stopping: then it is not late, it never ends. */
const NEVER_MS = 5_000;
/** After so many calls that did not stop, nothing new is learnt by waiting for more. */
const MOST_UNSTOPPABLE = 2;
/** A tool that is merely slow (sleep) is not waited for again and again. */
const SLOW_ENOUGH = 3;
const SHORT_MS = 50;
const LARGE_TEXT = 2_000_000;
/** Outcomes of calls that ended before the tool's own code. */
const NOT_RUN: readonly string[] = [
  "invalid_arguments",
  "denied",
  "unavailable",
  "out_of_scope",
  "not_found",
];

/**
 * Calls a tool in ways it may not have been tried in: arguments made from its schema, broken ones, aborts at
 * random moments, deadlines that pass at once, many at once, large input and output. What must hold: every call ends with one well-formed, bounded
 * result, soon after it is told to stop, and nothing escapes as an unhandled error.
 */
export async function checkTool(options: {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly tool: string;
  readonly runs: number;
  readonly seed: number;
  /** How long a call may run before it is told to stop. */
  readonly callMs: number;
}): Promise<CheckReport> {
  const { session, tool, runs, seed, callMs } = options;
  const random = new Random(seed);
  const findings = new Findings();
  const outcomes: Record<string, number> = {};
  const done = Object.fromEntries(CHECK_KINDS.map((kind) => [kind, 0])) as Record<CheckKind, number>;
  const hash = createHash("sha256");
  const schema = options.runtime.registry.get(tool)?.parameters ?? {};
  const good = () => valueFor(schema, random) as Record<string, unknown>;
  let current: { kind: CheckKind; args: unknown } = { kind: "good arguments", args: {} };
  let unstoppable = 0;
  let slow = 0;
  /** What it threw at arguments that fit its schema, and whether that was all it ever did with them. */
  let threw: { readonly message: string; readonly args: unknown } | undefined;
  let everWorked = false;

  const once = async (kind: CheckKind, args: unknown, stopAfterMs = callMs): Promise<void> => {
    done[kind] += 1;
    current = { kind, args };
    hash.update(`${JSON.stringify(args)}\n`);
    const started = performance.now();
    const result = await callOnce({ session, tool, args, stopAfterMs });
    const overdue = performance.now() - started - stopAfterMs;
    if (overdue > STOPPING_MS) {
      unstoppable += 1;
      const end = result === undefined ? "and never ended" : `for ${Math.round(overdue / 1000)} s`;
      findings.add({ kind, what: `it went on ${end} after it was told to stop`, args });
    }
    if (result === undefined) return;
    const outcome = result.error?.code ?? "ok";
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (kind === "good arguments" && (outcome === "timeout" || outcome === "cancelled")) slow += 1;
    if (kind === "good arguments" && !NOT_RUN.includes(outcome)) {
      if (isUncaught(result)) threw ??= { message: result.error?.message ?? "", args };
      else everWorked = true;
    }
    for (const what of malformations(result)) findings.add({ kind, what, args });
  };

  const escaped = (thrown: unknown) => {
    const { type, message } = describeThrown(thrown);
    findings.add({ ...current, what: `an error that nothing catches: ${type}: ${message}` });
  };
  process.on("unhandledRejection", escaped);
  process.on("uncaughtException", escaped);
  try {
    for (let index = 0; index < runs && unstoppable < MOST_UNSTOPPABLE; index += 1) {
      await once("good arguments", good(), slow < SLOW_ENOUGH ? callMs : SHORT_MS);
      await once("bad arguments", badArguments(good(), random), slow < SLOW_ENOUGH ? callMs : SHORT_MS);
      await once("abort", good(), random.int(0, 20));
    }
    if (unstoppable < MOST_UNSTOPPABLE)
      await withChangedTool({ ...options, alter: withShortDeadline(random) }, () => once("timeout", good()));
    if (unstoppable < MOST_UNSTOPPABLE) {
      await Promise.all(Array.from({ length: CONCURRENT }, () => once("concurrent", good())));
      await once("large input", withLargeTexts(good()));
      await withChangedTool({ ...options, alter: withHugeOutput }, () =>
        once("huge output", good(), slow < SLOW_ENOUGH ? callMs : SHORT_MS),
      );
    }
    // What was left behind gets a moment to fail.
    await wait(SHORT_MS);
  } finally {
    process.off("unhandledRejection", escaped);
    process.off("uncaughtException", escaped);
  }
  if (threw !== undefined && !everWorked) {
    const what = `it fails whatever arguments it gets: ${threw.message}`;
    findings.add({ kind: "good arguments", what, args: threw.args });
  }
  const report = { tool, seed, runs: done, outcomes, violations: findings.all() };
  return {
    ...report,
    arguments_hash: hash.digest("hex").slice(0, 16),
    remarks: remarksOn(report, unstoppable),
  };
}

/** An error that the tool did not mean to throw: those it means are ToolErrors, in words of their own. */
function isUncaught({ error }: CallResult): boolean {
  return error?.code === "failed" && error.message.startsWith("Tool execution failed: ");
}

/** Runs with a changed copy of the tool in the place of the real one. */
async function withChangedTool(
  {
    runtime,
    tool: name,
    alter,
  }: { readonly runtime: Runtime; readonly tool: string; readonly alter: (tool: AnyTool) => AnyTool },
  work: () => Promise<void>,
): Promise<void> {
  const entry = runtime.registry.get(name);
  const real = await entry?.load().catch(() => undefined);
  if (entry === undefined || real === undefined) return;
  // Without `dispose`: the copy shares what the real one holds.
  const { dispose: _dispose, ...copy } = alter(real);
  const standing = runtime.registry.scoped([copy], { provenance: entry.provenance });
  try {
    await work();
  } finally {
    standing[Symbol.dispose]();
  }
}

/** A deadline so short that it passes while the tool is at work. */
function withShortDeadline(random: Random): (tool: AnyTool) => AnyTool {
  return (tool) => ({ ...tool, timeoutMs: random.int(1, 20) });
}

/** Every text of the output enlarge far beyond any limit; `present` and the bounds have to cope. */
function withHugeOutput(tool: AnyTool): AnyTool {
  // A tool that pages itself answers for its own size; growing its pages would prove nothing.
  if (tool.maxResultSizeChars === Number.POSITIVE_INFINITY) return tool;
  const enlarge = (value: unknown): unknown => {
    if (typeof value === "string") return `${value}${"z".repeat(LARGE_TEXT)}`;
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        typeof member === "string" ? enlarge(member) : member,
      ]),
    );
  };
  return {
    ...tool,
    handler: async (args: unknown, ctx: CallContext) => enlarge(await tool.handler(args, ctx)),
  };
}

/** The result, or undefined when none comes. */
async function callOnce(options: {
  readonly session: Session;
  readonly tool: string;
  readonly args: unknown;
  readonly stopAfterMs: number;
}): Promise<CallResult | undefined> {
  const stop = new AbortController();
  const over = new AbortController();
  const timer = setTimeout(() => stop.abort(), options.stopAfterMs);
  const patience = options.stopAfterMs + STOPPING_MS + NEVER_MS;
  const never = wait(patience, undefined, { signal: over.signal }).catch(() => undefined);
  try {
    return await Promise.race([
      options.session.call({ name: options.tool, arguments: options.args }, { signal: stop.signal }),
      never,
    ]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

function withLargeTexts(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? "y".repeat(LARGE_TEXT) : value,
    ]),
  );
}

function remarksOn(report: Pick<CheckReport, "outcomes">, unstoppable: number): readonly string[] {
  const remarks: string[] = [];
  if (unstoppable >= MOST_UNSTOPPABLE) remarks.push("given up early: it does not stop when it is told to");
  if (neverRan(report)) remarks.push(NEVER_RAN);
  return remarks;
}

/** The report with what came of the tool's worked examples, whose arguments are known to be harmless. */
export function withExamples(
  report: CheckReport,
  tried: readonly { readonly example: ToolExample; readonly outcome: ExampleOutcome }[],
): CheckReport {
  const ran = tried.filter(({ outcome }) => outcome.state !== "left out");
  const failed = ran.flatMap(({ example, outcome }) =>
    outcome.state === "failed" ? [{ what: `${example.title}: ${outcome.why}`, args: example.arguments }] : [],
  );
  if (ran.length === 0) return report;
  const findings = new Findings();
  for (const { what, args } of failed) findings.add({ kind: "worked example", what, args });
  const outcomes = { ...report.outcomes };
  if (ran.length > failed.length) outcomes.ok = (outcomes.ok ?? 0) + ran.length - failed.length;
  if (failed.length > 0) outcomes.failed = (outcomes.failed ?? 0) + failed.length;
  return {
    ...report,
    runs: { ...report.runs, "worked example": ran.length },
    outcomes,
    violations: [...report.violations, ...findings.all()],
    remarks: [
      ...report.remarks.filter((remark) => remark !== NEVER_RAN),
      ...(neverRan(report) ? [EXAMPLES_ONLY] : []),
    ],
  };
}

/** What was seen of its code are its worked examples, no odd arguments. */
export function onlyExamples({ remarks }: Pick<CheckReport, "remarks">): boolean {
  return remarks.includes(EXAMPLES_ONLY);
}

/** All that was seen are the checks before the tool's own code, which says nothing about that code. */
export function neverRan({ outcomes }: Pick<CheckReport, "outcomes">): boolean {
  return Object.keys(outcomes).every((outcome) => NOT_RUN.includes(outcome));
}

/** While a tool is being checked with random arguments, it may touch nothing but a scratch folder. */
export function confinedPolicy(scratch: string): Policy {
  return {
    decide({ effects }) {
      const outside = effects.find(
        (effect) => !(effect.action.startsWith("file:") && isAtOrBelow(effect.resource, scratch)),
      );
      return outside === undefined
        ? { verdict: "allow", rule: "check:scratch" }
        : {
            verdict: "deny",
            rule: "check:confined",
            reason: `${outside.action} is not run with random arguments`,
          };
    },
  };
}
