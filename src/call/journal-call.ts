import { setImmediate as nextTurn } from "node:timers/promises";
import { sha256 } from "../base/hash.js";
import type { Effect } from "../tool/effects.js";
import { type Failure, failure, ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";
import type { CallOutcome, JournalEntry } from "./journal.js";
import { journaledArguments } from "./journaled-arguments.js";
import { textOfCall } from "./settle.js";

/**
 * Writes down what is about to happen. A call that changes something waits until that is on disk, or its first change
 * does where the tool leaves that to its environment.
 */
export function journalIntent(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  if (!call.scope.services.journal.enabled) return undefined;
  try {
    const durableBefore = !call.isKept && call.effects.some((effect) => effect.mode !== "read");
    const entry = begin(call, durableBefore);
    if (!(entry instanceof Promise)) {
      call.journalEntry = entry;
      return undefined;
    }
    call.journalEntry = entry;
    const onDisk = entry.then(
      () => undefined,
      (error: unknown) => {
        call.journalEntry = undefined;
        return cannotJournal(error);
      },
    );
    if (!changesThroughEnvironment(call)) return onDisk;
    let problem: Failure | undefined;
    call.mayChange = onDisk.then((found) => {
      if (found === undefined) return;
      problem = found;
      // Whatever its handler has made ready, nothing was done.
      call.began = false;
      throw new ToolError(found.message, found);
    });
    call.mayChange.catch(() => undefined);
    // Rows are committed at the end of a turn, and only then synced: what gets a command ready would hold that up.
    return call.effects.some(isProgram) ? nextTurn().then(() => problem) : undefined;
  } catch (error) {
    return cannotJournal(error);
  }
}

function changesThroughEnvironment({ tool, effects }: CallRecord): boolean {
  if (tool.changesThroughEnvironment !== true) return false;
  return effects.every(
    (effect) => effect.mode === "read" || isProgram(effect) || effect.action.startsWith("file:"),
  );
}

function isProgram({ mode }: Effect): boolean {
  return mode === "execute";
}

function cannotJournal(error: unknown): Failure {
  return failure(
    "internal",
    `the call could not be journaled, so it was not run: ${describeThrown(error).message}`,
    "Check the disk that holds the Hermes home.",
  );
}

/** Completes the row; the caller may answer once this resolves. */
export async function journalOutcome(call: CallRecord): Promise<void> {
  const { log } = call.scope.services;
  try {
    const begun = call.journalEntry ?? begin(call, false);
    const entry = begun instanceof Promise ? await begun : begun;
    if (mayFollow(call)) entry.endSoon(() => outcomeOf(call));
    else await entry.end(outcomeOf(call));
  } catch (error) {
    // The work is done and cannot be undone; hiding its result would invite the model to repeat it.
    log.error(`result of ${call.name} (${call.id}) is not in the journal: ${String(error)}`);
    call.notices = [...call.notices, "This result could not be written to the journal."];
  }
}

function outcomeOf(call: CallRecord): CallOutcome {
  const text = textOfCall(call);
  const { usage } = call;
  return {
    status: statusOf(call),
    state: call.state,
    errorCode: call.error?.code,
    errorMessage: call.error?.message,
    durationMs: call.durationMs,
    resultChars: text.length,
    resultBytes: Buffer.byteLength(text),
    resultHash: sha256(text),
    truncated: call.truncated,
    repairs: call.repairs.length === 0 ? undefined : JSON.stringify(call.repairs),
    result: text,
    exitCode: call.exitCode,
    retries: call.retries || undefined,
    model: call.scope.model === undefined ? call.model : undefined,
    usage,
    worker: call.worker,
  };
}

/**
 * A script that only reads need not wait for a commit at each of its calls: rows are written in order, so they
 * are there when the call that the script runs in is answered, and before anything it changes. Nor need a call wait
 * that is written down where it comes from.
 */
function mayFollow({ scope, effects, isKept }: CallRecord): boolean {
  return isKept || (scope.forProgram === true && effects.every((effect) => effect.mode === "read"));
}

function begin(call: CallRecord, durableBefore: boolean): JournalEntry | Promise<JournalEntry> {
  const { scope, decision, parent } = call;
  const { redact, journal } = scope.services;
  const { cwd, workspace } = scope.info;
  const args = journaledArguments(call.entry === undefined ? call.target.arguments : call.args, redact);
  return journal.begin({
    callId: redact(call.id),
    sessionId: scope.info.id,
    tool: redact(call.name),
    calledAs: redact(call.request.name),
    door: scope.door,
    argsJson: args.json,
    argsBytes: args.bytes,
    effectsJson: call.effects.length === 0 ? "[]" : redact(JSON.stringify(call.effects)),
    decision: call.decided ?? "none",
    rule: redact(decision?.rule ?? ""),
    environment: scope.environment.name,
    toolset: call.entry?.toolset,
    model: scope.model,
    parent: parent?.id,
    parentSession: parent?.session,
    conversation: scope.conversations.at(-1),
    cwd: redact(cwd),
    workspace: workspace === cwd ? undefined : redact(workspace),
    queuedMs: call.queuedMs,
    approvalWaitMs: call.approvalWaitMs,
    approval: call.approval,
    startedAt: Date.now() - Math.round(performance.now() - call.startedAt),
    durableBefore,
  });
}

export function statusOf(call: CallRecord): CallOutcome["status"] {
  if (call.ok) return "ok";
  switch (call.error?.code) {
    case "denied":
    case "timed_out_waiting":
      return "denied";
    case "blocked":
    case "over_budget":
      return "blocked";
    case "timeout":
      return "timeout";
    case "cancelled":
      return "cancelled";
    case "unknown":
      return "unknown";
    default:
      return "error";
  }
}
