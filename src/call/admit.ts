import { type Failure, failure } from "../tool/errors.js";
import type { CallRecord } from "./call-record.js";
import { keysOf } from "./effect-keys.js";
import type { CallScope } from "./scope.js";

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

async function takeTurn(call: CallRecord): Promise<Failure | undefined> {
  const { scope } = call;
  const keys = await keysOf({
    effects: call.effects,
    environment: scope.environment,
    sessionRoot: scope.rootId,
  });
  const release = await scope.services.locks.acquire({
    keys,
    callId: lockIdOf(scope, call.id),
    ancestors: scope.ancestors,
    signal: call.signal,
  });
  if (release === undefined) return interrupted();
  call.release = release;
  return undefined;
}

export function interrupted(): Failure {
  return failure("cancelled", "skipped due to user interrupt");
}

/** Call ids repeat between sessions; lock holders must not. */
export function lockIdOf(scope: CallScope, callId: string): string {
  return `${scope.info.id}/${callId}`;
}
