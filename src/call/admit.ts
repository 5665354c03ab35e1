import type { Effect } from "../tool/effects.js";
import { type Failure, failure } from "../tool/errors.js";
import { type CallRecord, wholeMicroseconds } from "./call-record.js";
import { declareEffects } from "./declare-effects.js";
import { type EffectKey, keysOf } from "./effect-keys.js";
import { judge } from "./judge.js";
import type { CallScope, Verdict } from "./scope.js";

/** Waits until nothing that clashes is running; refuses what the guardrails have had enough of. */
export function admit(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  const { scope, entry } = call;
  const refused = scope.guardrails.before({
    tool: entry.name,
    args: call.args,
    idempotent: entry.idempotent === true,
    tolerant: entry.tolerant === true,
  });
  if (refused !== undefined) return refused;
  return call.effects.length === 0 ? undefined : takeTurn(call);
}

/** More often than this, the session is moving about faster than a call can be judged. */
const MAX_ROUNDS = 20;

/**
 * A command that ran while this call waited may have gone to another folder, where the same arguments mean
 * something else: then the call is judged again for what it means there.
 */
async function takeTurn(call: CallRecord): Promise<Failure | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const problem = isOutdated(call) ? declareAgain(call) : undefined;
    const refused = problem ?? (await acquire(call));
    if (refused !== undefined || !isOutdated(call)) return refused;
    call.release?.();
    call.release = undefined;
  }
  return failure("failed", "other commands of the session kept moving it to other folders", "Call again.");
}

function isOutdated(call: CallRecord): boolean {
  return call.taskVersion !== call.scope.task.version;
}

function declareAgain(call: CallRecord): Failure | undefined {
  const problem = declareEffects(call);
  return problem ?? refusedNow(call, call.effects);
}

async function acquire(call: CallRecord): Promise<Failure | undefined> {
  const { scope } = call;
  const patience = patienceFor(call);
  const keys = await keysOf({
    effects: call.effects,
    environment: scope.environment,
    sessionRoot: scope.rootId,
    signal: patience?.signal,
  });
  if (patience?.signal.aborted === true)
    return call.signal?.aborted === true ? interrupted() : patience.failure;
  const moved = judgeAgain(call, keys);
  if (moved !== undefined) return moved;
  call.keys = keys;
  const turn = scope.services.locks.acquire({
    keys,
    callId: lockIdOf(scope, call.id),
    ancestors: scope.ancestors,
    signal: call.signal,
  });
  const release = turn instanceof Promise ? await waitFor(call, turn) : turn;
  if (release === undefined) return interrupted();
  call.release = release;
  return undefined;
}

async function waitFor<Turn>(call: CallRecord, turn: Promise<Turn>): Promise<Turn> {
  const since = performance.now();
  const release = await turn;
  call.queuedMs = wholeMicroseconds((call.queuedMs ?? 0) + performance.now() - since);
  return release;
}

/** Where paths lead elsewhere has to be asked there, which may take for ever: no longer than the call itself may. */
function patienceFor({ scope, signal }: CallRecord) {
  if (scope.environment.files.until === undefined) return undefined;
  const { defaultTimeoutMs, timeoutCeilingMs } = scope.services;
  const ms = Math.min(defaultTimeoutMs, timeoutCeilingMs ?? Number.POSITIVE_INFINITY);
  const timeout = AbortSignal.timeout(Math.min(ms, 2 ** 31 - 1));
  return {
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    failure: failure(
      "timeout",
      `${scope.environment.name} did not say within ${ms / 1000} s where the paths of this call lead`,
      "Nothing was done. See whether it works: hermes env test",
    ),
  };
}

export function interrupted(): Failure {
  return failure("cancelled", "skipped due to user interrupt");
}

/** Call ids repeat between sessions; lock holders must not. */
export function lockIdOf(scope: CallScope, callId: string): string {
  return `${scope.info.id}/${callId}`;
}

/**
 * The person may have thought for minutes, and a folder can be swapped for a link meanwhile. What the paths
 * lead to now is judged once more; from here on the call is bound to exactly these places.
 */
function judgeAgain(call: CallRecord, keys: readonly EffectKey[]): Failure | undefined {
  if (!call.effects.some(isPlace)) return undefined;
  const paths = keys.map((key) => key.path);
  const effects = call.effects.map((effect) => {
    const path = effect.mode === "execute" ? undefined : paths.shift();
    return isPlace(effect) && path !== undefined ? { ...effect, resource: path } : effect;
  });
  return refusedNow(call, effects);
}

function refusedNow(call: CallRecord, effects: readonly Effect[]): Failure | undefined {
  const again = judge(call, effects);
  if (again?.verdict === "allow") return undefined;
  if (again?.verdict === "ask" && isCovered(again, call)) return undefined;
  return failure(
    "denied",
    `what this call would touch has changed since it was judged: ${again?.reason ?? again?.rule ?? "no verdict"}`,
    "Look at these folders again before you repeat the call.",
  );
}

function isPlace(effect: Effect): boolean {
  return effect.action.startsWith("file:") && effect.resource !== "*";
}

/** True when the question is one that was already answered for this call. */
export function isCovered(again: Verdict, { judged, scope }: CallRecord): boolean {
  const keys = again.grantKeys ?? [];
  // Without keys a yes covers exactly the question it was given to.
  if (keys.length === 0)
    return judged?.verdict === "ask" && judged.rule === again.rule && judged.reason === again.reason;
  const asked = judged?.grantKeys ?? [];
  return keys.every((key) => asked.includes(key) || scope.grants.has(key));
}
