import { relative } from "node:path";
import { createTwoFilesPatch } from "diff";
import type { CallContext } from "../../../tool/tool.js";
import { isWithin } from "../paths.js";
import { type LintReport, lintEdit } from "../syntax-check.js";
import type { FileChange } from "./plan.js";

const MAX_DIFF_CHARS = 40_000;
const DIFF_TIMEOUT_MS = 3000;
const MAX_LINTED_CHARS = 2 * 1024 * 1024;

/** A unified diff of one change, the way `git diff` names files. */
export async function unifiedDiff(change: FileChange, ctx: CallContext): Promise<string> {
  const name = (path: string) =>
    isWithin(path, ctx.session.cwd) ? relative(ctx.session.cwd, path) : path.replace(/^\//, "");
  const from = change.kind === "create" ? "/dev/null" : `a/${name(change.location.path)}`;
  const to = change.kind === "delete" ? "/dev/null" : `b/${name((change.target ?? change.location).path)}`;
  const before = change.before?.text ?? "";
  const after = change.after?.text ?? "";
  if (change.kind === "move" && before === after)
    return `rename from ${from.slice(2)}\nrename to ${to.slice(2)}\n`;
  const diff = createTwoFilesPatch(from, to, before, after, undefined, undefined, {
    context: 3,
    timeout: DIFF_TIMEOUT_MS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  if (diff === undefined) return `--- ${from}\n+++ ${to}\n[the change is too large to show]\n`;
  if (diff.length <= MAX_DIFF_CHARS) return diff;
  const cut = diff.lastIndexOf("\n", MAX_DIFF_CHARS);
  return `${diff.slice(0, cut)}\n[${diff.length - cut} more characters of diff]\n`;
}

/** New syntax errors by file. */
export async function lintChanges(
  changes: readonly FileChange[],
  ctx: CallContext,
): Promise<Record<string, LintReport>> {
  const reports: Record<string, LintReport> = {};
  for (const { location, target, before, after } of changes) {
    if (after === undefined || after.text.length > MAX_LINTED_CHARS) continue;
    const { path } = target ?? location;
    const report = await lintEdit({ path, before: before?.text, after: after.text, ctx });
    if (report !== undefined) reports[path] = report;
  }
  return reports;
}
