import type { Effect } from "../tool/effects.js";
import { ignoreRejection } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";
import type { Verdict } from "./scope.js";

const VERDICTS: readonly unknown[] = ["allow", "ask", "deny"];

/** The policy's word on these effects; undefined when it gave none. */
export function judge(call: CallRecord, effects: readonly Effect[]): Verdict | undefined {
  const { scope, entry, args } = call;
  const verdict = scope.services.policy.decide({
    entry,
    args,
    effects,
    session: scope.info,
    environment: scope.environment.name,
    environmentKind: scope.environment.kind,
    home: scope.home,
  });
  if (VERDICTS.includes(verdict?.verdict)) return verdict;
  ignoreRejection(verdict);
  return undefined;
}
