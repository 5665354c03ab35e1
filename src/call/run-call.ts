import type { CallResult, IncomingCall } from "../tool/call.js";
import { type Failure, failure } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { admit, interrupted } from "./admit.js";
import { afterHooks } from "./after-hooks.js";
import { approve } from "./approve.js";
import { boundResult } from "./bound-result.js";
import { CallRecord } from "./call-record.js";
import { execute } from "./execute.js";
import { journalIntent, journalOutcome } from "./journal-call.js";
import { prepare } from "./prepare.js";
import type { CallScope } from "./scope.js";
import { settle, settleFailure } from "./settle.js";

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The one path. Every door ends here, and every call leaves with exactly one result. */
export async function runCall(
  request: IncomingCall,
  scope: CallScope,
  options: RunOptions = {},
): Promise<CallResult> {
  return (await walk(request, scope, options)).toResult();
}

/** The same walk, for batches: they may still have to shorten a result to fit their turn. */
export async function walk(
  request: IncomingCall,
  scope: CallScope,
  options: RunOptions,
): Promise<CallRecord> {
  const call = new CallRecord(request, scope, options.signal);
  announceStart(call);
  try {
    const ended =
      receive(call) ??
      (await prepare(call)) ??
      (await approve(call)) ??
      (await admit(call)) ??
      (await journalIntent(call)) ??
      (await execute(call));
    settle(call, ended);
    await afterHooks(call);
    boundResult(call);
  } catch (defect) {
    settleFailure(
      call,
      failure("internal", `Error executing ${call.name}: ${describeThrown(defect).message}`),
    );
  } finally {
    call.release?.();
    scope.info.previousTool = call.name;
  }
  await journalOutcome(call);
  announceEnd(call);
  return call;
}

/** What arrives after the person has interrupted is answered, not run. */
function receive(call: CallRecord): Failure | undefined {
  return call.request.malformed ?? (call.signal?.aborted === true ? interrupted() : undefined);
}

function announceStart(call: CallRecord): void {
  const { events } = call.scope.services;
  if (!events.active) return;
  const preview = call.scope.services
    .redact(previewOfArguments(call.request.arguments))
    .slice(0, PREVIEW_CHARS);
  events.emit({
    type: "call.started",
    session: call.scope.info.id,
    id: call.id,
    name: call.request.name,
    preview,
    at: Date.now(),
  });
}

const PREVIEW_CHARS = 200;

/** A glimpse of arguments that nobody has checked yet: they may be huge, cyclic or not JSON at all. */
function previewOfArguments(raw: unknown): string {
  if (typeof raw === "string") return raw.slice(0, 4 * PREVIEW_CHARS);
  if (typeof raw !== "object" || raw === null) return String(raw);
  try {
    const shown = Object.entries(raw)
      .slice(0, 4)
      .map(([key, value]) => [
        key.slice(0, 40),
        typeof value === "string"
          ? value.slice(0, PREVIEW_CHARS)
          : typeof value === "object"
            ? "…"
            : String(value),
      ]);
    return JSON.stringify(Object.fromEntries(shown));
  } catch {
    return "";
  }
}

function announceEnd(call: CallRecord): void {
  const { events } = call.scope.services;
  if (!events.active) return;
  events.emit({
    type: "call.finished",
    session: call.scope.info.id,
    id: call.id,
    name: call.name,
    ok: call.ok,
    ...(call.error !== undefined && { code: call.error.code }),
    duration_ms: call.durationMs,
    at: Date.now(),
  });
}
