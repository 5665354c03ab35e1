import { visible } from "../../base/visible-text.js";
import type { Change, Simulation } from "../../policy/profiles/simulate.js";
import { simulateProfile as simulateProfileOver } from "../../runtime/simulate.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { positiveNumber } from "../input.js";
import type { Output } from "../output.js";

/** What another profile would have done with the calls of the journal. */
export async function simulateProfile({ out, flags, runtime: open, options }: CommandContext): Promise<void> {
  const profile = flags.profile ?? options.profile;
  if (typeof profile !== "string") {
    const hint = "For example: hermes permissions simulate --profile readonly_research";
    throw commandError("bad_request", "no profile was named", hint);
  }
  const days = positiveNumber(options.days ?? 30, "--days");
  const runtime = await open({ userTools: false });
  try {
    const result = await simulateProfileOver(runtime, { profile, days });
    if (out.json) out.value({ days, ...result });
    else show(out, result, days);
  } finally {
    await runtime.close();
  }
}

function show(out: Output, result: Simulation, days: number): void {
  const { calls, unchanged, unknown, undecided } = result;
  if (calls === 0) {
    out.line(`No calls in the last ${days} days.`);
    return;
  }
  out.line(`${calls} calls of the last ${days} days under ${result.profile}: ${unchanged} as before`);
  list(out, "newly denied", result.newly_denied);
  list(out, "newly asked", result.newly_asked);
  list(out, "newly allowed", result.newly_allowed);
  if (result.never_fired.length > 0) {
    out.line("rules that no call met");
    const rows = result.never_fired.map(({ rule, list: name, file, line }) => [
      `  ${name}`,
      rule,
      line === undefined ? file : `${file}:${line}`,
    ]);
    out.table(rows);
  }
  if (unknown > 0)
    out.note(`${unknown} calls are unknown: the journal holds only a part of their arguments.`);
  if (undecided > 0) out.note(`${undecided} calls ended before anything was decided about them.`);
}

function list(out: Output, title: string, changes: readonly Change[]): void {
  const total = changes.reduce((sum, { calls }) => sum + calls, 0);
  out.line(`${title}: ${total}`);
  const rows = changes.map(({ calls, tool, rule, reason }) => [
    `  ${calls}`,
    visible(tool),
    rule,
    visible(reason),
  ]);
  out.table(rows);
}
