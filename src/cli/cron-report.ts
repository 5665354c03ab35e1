import { visible } from "../base/visible-text.js";
import type { RunReport } from "../cron/scheduler.js";
import { labelOf, publicRun, tookOf } from "./cron-jobs.js";
import type { Output } from "./output.js";

/** What one run came to, in a line or two. */
export function sayRun(out: Output, { job, run }: RunReport): void {
  if (out.json) {
    out.value({ name: job.name, ...publicRun(run) });
    return;
  }
  const level = run.status === "ok" ? "ok" : run.status === "failed" ? "error" : "warning";
  const summary = run.summary === "" ? run.status : visible(run.summary);
  out.line(`${out.mark(level)} ${labelOf(job)} ${tookOf(run)}: ${summary}`);
  if (run.outputPath !== undefined) out.line(out.color.dim(`  ${run.outputPath}`));
}
