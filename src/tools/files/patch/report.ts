import type { CallContext } from "../../../tool/tool.js";
import { unifiedDiff } from "../diff-text.js";
import { type LintReport, lintEdit } from "../syntax-check.js";
import type { FileChange } from "./plan.js";

const MAX_DIFF_CHARS = 40_000;

export function diffOf(change: FileChange, ctx: CallContext): Promise<string> {
  const { location, target, before, after } = change;
  return unifiedDiff(
    { path: location.path, movedTo: target?.path, before: before?.text, after: after?.text },
    { ctx, maxChars: MAX_DIFF_CHARS },
  );
}

/** New syntax errors by file. */
export async function lintChanges(
  changes: readonly FileChange[],
  ctx: CallContext,
): Promise<Record<string, LintReport>> {
  const reports: Record<string, LintReport> = {};
  for (const { location, target, before, after } of changes) {
    if (after === undefined) continue;
    const { path } = target ?? location;
    const report = await lintEdit({ path, before: before?.text, after: after.text, ctx });
    if (report !== undefined) reports[path] = report;
  }
  return reports;
}
