import type { Failure } from "../tool/errors.js";
import type { CallRecord } from "./call-record.js";

/** One step of the path: undefined lets the call go on, a failure ends it. */
export type Stage = (call: CallRecord) => Failure | undefined | Promise<Failure | undefined>;

/** Walks the stages in order until one ends the call. Waits only for those that really wait. */
export async function walkStages(call: CallRecord, stages: readonly Stage[]): Promise<Failure | undefined> {
  for (const stage of stages) {
    const outcome = stage(call);
    const ended = outcome instanceof Promise ? await outcome : outcome;
    if (ended !== undefined) return ended;
  }
  return undefined;
}
