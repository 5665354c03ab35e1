import { type CheckReport, neverRan, onlyExamples } from "../../check/check-tool.js";
import type { ToolListing } from "../../runtime/definitions.js";
import type { CommandContext } from "../context.js";
import { EXIT } from "../errors.js";

/** A tool that was not tried, and what would make it ready. */
export type SkippedTool = Pick<ToolListing, "name" | "reason" | "fix">;

const MOST_SHOWN = 20;

export function showReports({ out }: CommandContext, reports: readonly CheckReport[]): void {
  const broken = reports.some(isBroken);
  if (out.json) out.value({ ok: !broken, reports });
  else {
    for (const report of reports) {
      out.line(
        `${out.mark(isBroken(report) ? "error" : "ok")} ${report.tool}: ${callsOf(report)} calls (${outcomesOf(report)}), ${report.violations.length} problems, seed ${report.seed}`,
      );
      showViolations(out, report);
      for (const remark of report.remarks) out.line(`    ${out.mark("warning")} ${remark}`);
    }
  }
  if (broken) process.exitCode = EXIT.toolError;
}

/** One row per tool, what is wrong with the broken ones below. */
export function showEveryReport(
  { out }: CommandContext,
  tried: { readonly reports: readonly CheckReport[]; readonly skipped: readonly SkippedTool[] },
): void {
  const { reports, skipped } = tried;
  const broken = reports.filter(isBroken);
  if (broken.length > 0) process.exitCode = EXIT.toolError;
  if (out.json) {
    const never_ran = reports.filter(neverRan).map(({ tool }) => tool);
    const examples_only = reports.filter(onlyExamples).map(({ tool }) => tool);
    out.value({ ok: broken.length === 0, reports, never_ran, examples_only, skipped });
    return;
  }
  out.table([
    ["", "tool", "calls", "problems", ""],
    ...reports.map((report) => [
      out.mark(isBroken(report) ? "error" : neverRan(report) ? "warning" : "ok"),
      report.tool,
      String(callsOf(report)),
      String(report.violations.length),
      out.color.dim(report.remarks[0] ?? outcomesOf(report)),
    ]),
    ...skipped.map(({ name, reason, fix }) => [
      out.mark("warning"),
      name,
      "0",
      "",
      out.color.dim(`${reason ?? "not available"}${fix === undefined ? "" : ` → ${fix}`}`),
    ]),
  ]);
  for (const report of broken) {
    out.line(`${report.tool}:`);
    showViolations(out, report);
  }
  const unseen = reports.filter(neverRan).length;
  out.line(
    `${reports.length} tools tried, ${broken.length} with problems; ${reports.filter(onlyExamples).length} ran with their worked examples only, since random arguments are too dangerous for them; of ${unseen} only the checks before their code were seen; ${skipped.length} not available; seed ${reports[0]?.seed ?? 0}`,
  );
}

function showViolations(out: CommandContext["out"], { violations }: CheckReport): void {
  for (const { kind, what, args, times } of violations.slice(0, MOST_SHOWN))
    out.line(`    ${kind}: ${what}${times > 1 ? ` (${times} times)` : ""}  ${out.color.dim(args)}`);
  const more = violations.length - MOST_SHOWN;
  if (more > 0) out.line(`    and ${more} more (--json shows all)`);
}

function isBroken({ violations }: CheckReport): boolean {
  return violations.length > 0;
}

function callsOf({ runs }: CheckReport): number {
  return Object.values(runs).reduce((sum, count) => sum + count, 0);
}

function outcomesOf({ outcomes }: CheckReport): string {
  return Object.entries(outcomes)
    .map(([code, count]) => `${count} ${code}`)
    .join(", ");
}
