import type { CallResult, IncomingCall } from "../tool/call.js";
import { failure } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { admit } from "./admit.js";
import { afterHooks, wantsAfterHooks } from "./after-hooks.js";
import { approve } from "./approve.js";
import { boundResult } from "./bound-result.js";
import { CallRecord, type RunOptions, type WalkOptions } from "./call-record.js";
import { execute } from "./execute.js";
import { journalIntent, journalOutcome, statusOf } from "./journal-call.js";
import { PREPARE, type Stage, walkStages } from "./prepare.js";
import { previewOf } from "./preview.js";
import type { CallScope } from "./scope.js";
import { settle, settleFailure } from "./settle.js";
import { framedResult } from "./untrusted.js";

/** The path. What follows it (settle, after-hooks, bound, journal) happens to every call, however it ended. */
const PATH: readonly Stage[] = [...PREPARE, approve, admit, journalIntent, execute];

/** Every door ends here, and every call leaves with exactly one result. */
export function runCall(
  request: IncomingCall,
  scope: CallScope,
  options: RunOptions = {},
): Promise<CallResult> {
  return walk(request, scope, options).then(framedResult);
}

/** The same walk, for batches: they may still have to shorten a result to fit their turn. */
export async function walk(
  request: IncomingCall,
  scope: CallScope,
  options: WalkOptions,
): Promise<CallRecord> {
  const call = new CallRecord(request, scope, options);
  call.keepsVersion = true;
  const { tracer } = scope.services;
  if (tracer !== undefined) call.trace = tracer.begin(call);
  announceStart(call);
  try {
    call.ended = await walkStages(call, PATH);
    settle(call, call.ended);
    if (wantsAfterHooks(call)) await afterHooks(call);
    boundResult(call);
  } catch (defect) {
    settleFailure(
      call,
      failure("internal", `Error executing ${call.name}: ${describeThrown(defect).message}`),
    );
  } finally {
    call.release?.();
    if (call.pinned) call.entry.unpin();
    scope.info.previousTool = call.name;
  }
  if (scope.services.journal.enabled) await journalOutcome(call);
  tracer?.end(call);
  announceEnd(call);
  return call;
}

function announceStart(call: CallRecord): void {
  const { events } = call.scope.services;
  if (!events.wants("call.started")) return;
  const { scope } = call;
  const entry = scope.view.entries.get(call.target.name);
  events.emit({
    type: "call.started",
    session: scope.info.id,
    conversation: scope.conversations.at(-1),
    id: call.id,
    name: scope.services.redact(call.target.name),
    emoji: entry?.emoji,
    toolset: entry?.toolset,
    preview: previewOf(call),
    at: Date.now(),
    door: scope.door,
    environment: scope.environment.name,
    parent: call.parent?.id,
  });
}

function announceEnd(call: CallRecord): void {
  const { scope } = call;
  const { events, redact } = scope.services;
  if (!events.wants("call.finished")) return;
  const { parent, usage, journalEntry } = call;
  events.emit({
    type: "call.finished",
    session: scope.info.id,
    conversation: scope.conversations.at(-1),
    id: call.id,
    name: redact(call.name),
    seq: journalEntry instanceof Promise ? undefined : journalEntry?.seq,
    toolset: call.entry?.toolset,
    preview: previewOf(call),
    ok: call.ok,
    status: statusOf(call),
    state: call.state,
    code: call.error?.code,
    exit_code: call.exitCode,
    duration_ms: call.durationMs,
    at: Date.now(),
    door: scope.door,
    environment: scope.environment.name,
    decision: call.decided,
    rule: call.decision && redact(call.decision.rule),
    parent: parent?.id,
    parent_session: parent?.session,
    model: scope.model ?? call.model,
    tokens: usage && { input: usage.input + usage.cached + usage.cacheWrite, output: usage.output },
  });
}
