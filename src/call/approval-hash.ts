import { sha256 } from "../base/hash.js";
import { isRecord } from "../base/record.js";
import type { Effect } from "../tool/effects.js";

/** Binds an approval to what was approved: the same tool, arguments, effects and place. */
export function approvalHash(call: {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  readonly environment: string;
  readonly cwd: string;
}): string {
  const { tool, args, effects, environment, cwd } = call;
  return sha256(canonicalJson({ tool, args, effects, environment, cwd }));
}

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      isRecord(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
        : inner,
    ) ?? "null"
  );
}
