import type { CallResult, IncomingCall } from "../tool/call.js";
import { spillResult, textLength } from "./bound-result.js";
import { CallRecord, type RunOptions } from "./call-record.js";
import { type EffectKey, KeyIndex, keysOf } from "./effect-keys.js";
import { PEEK, walkStages } from "./prepare.js";
import { walk } from "./run-call.js";
import type { CallScope } from "./scope.js";
import { applyTurnBudget } from "./spill.js";
import { framedResult } from "./untrusted.js";

/**
 * Runs the calls of one message. Neighbours run side by side as long as their effects do not clash; results
 * come back in source order, one per call, whatever finishes first, fails or is interrupted.
 */
export async function runBatch(
  requests: readonly IncomingCall[],
  scope: CallScope,
  options: RunOptions = {},
): Promise<readonly CallResult[]> {
  const done: CallRecord[] = [];
  for (const stretch of await planStretches(requests, scope)) {
    done.push(...(await runStretch(stretch, scope, options)));
  }
  fitTurn(done, scope);
  return done.map(framedResult);
}

/** Consecutive calls that may run at the same time. A call that must run alone is a stretch of one. */
export async function planStretches(
  requests: readonly IncomingCall[],
  scope: CallScope,
): Promise<readonly (readonly IncomingCall[])[]> {
  // One alone has nobody to make room for.
  if (requests.length === 1) return [requests];
  const stretches: IncomingCall[][] = [];
  let held = new KeyIndex<IncomingCall>();
  let open: IncomingCall[] | undefined;
  for (const request of requests) {
    const keys = await keysOfRequest(request, scope);
    if (keys === undefined) {
      stretches.push([request]);
      open = undefined;
      continue;
    }
    if (open === undefined || held.clashesWith(keys)) {
      open = [];
      held = new KeyIndex();
      stretches.push(open);
    }
    open.push(request);
    held.add(request, keys);
  }
  return stretches;
}

/** Keys of a call that may share a stretch; undefined for one that must run alone. */
async function keysOfRequest(
  request: IncomingCall,
  scope: CallScope,
): Promise<readonly EffectKey[] | undefined> {
  const call = new CallRecord(request, scope);
  const problem = await walkStages(call, PEEK).catch(() => true);
  if (problem !== undefined || call.entry.interactive === true) return undefined;
  if (call.effects.length === 0) return [];
  if (call.effects.some((effect) => effect.mode === "execute")) return undefined;
  return keysOf({ effects: call.effects, environment: scope.environment, sessionRoot: scope.rootId }).catch(
    () => undefined,
  );
}

async function runStretch(
  stretch: readonly IncomingCall[],
  scope: CallScope,
  options: RunOptions,
): Promise<readonly CallRecord[]> {
  const done = new Array<CallRecord>(stretch.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < stretch.length; index = next++) {
      const request = stretch[index];
      if (request === undefined) continue;
      const call = await walk(request, scope, options);
      done[index] = call;
      await options.onResult?.(framedResult(call));
    }
  };
  const workers = Math.min(scope.services.maxWorkers, stretch.length);
  await Promise.all(Array.from({ length: workers }, worker));
  return done;
}

/** Spills the largest results until the whole message fits; tools that page themselves are left alone. */
function fitTurn(calls: readonly CallRecord[], scope: CallScope): void {
  const candidates = calls.filter(
    (call) => call.spilledTo === undefined && call.entry?.maxResultSizeChars !== Number.POSITIVE_INFINITY,
  );
  const fixed =
    calls.reduce((sum, call) => sum + textLength(call), 0) -
    candidates.reduce((sum, call) => sum + textLength(call), 0);
  const budget = scope.services.limits.perTurn - fixed;
  for (const index of applyTurnBudget(
    candidates.map((call) => ({ chars: textLength(call) })),
    budget,
  )) {
    const call = candidates[index];
    if (call !== undefined) spillResult(call);
  }
}
