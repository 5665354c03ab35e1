import { ToolError } from "../../tool/errors.js";
import type { ExecResult } from "../environment.js";
import { findDenial, missesTemporary } from "./denial.js";
import type { SandboxReport } from "./types.js";

/** What the sandbox did to a command that has ended. */
export function sandboxReport(run: {
  readonly result: ExecResult;
  readonly ended: readonly string[];
  readonly network: boolean;
}): SandboxReport {
  const { result, ended } = run;
  const failed = result.exitCode !== 0 && !result.timedOut && !result.cancelled;
  const output = failed ? `${result.output}\n${result.stderr}` : "";
  return {
    active: true,
    ...findDenial(output, run.network),
    ...(missesTemporary(output) && { missingTemporary: true }),
    ...(ended.length > 0 && { ended }),
  };
}

/** A protected name that no mount could hold was changed and has been put back. */
export function withRefusedNames(result: ExecResult, changed: readonly string[]): ExecResult {
  const note = `\n[put back by the sandbox, because other programs run code from there: ${changed.join(", ")}]\n`;
  const [deniedPath = ""] = changed;
  return {
    ...result,
    output: result.output + note,
    sandbox: { active: true, ...result.sandbox, denied: "write", deniedPath },
  };
}

/** bubblewrap ended before the command began. Never run without it instead. */
export function sandboxFailed(output: string): ToolError {
  const why = output.trim().split("\n").at(-1) ?? "";
  return new ToolError(`The sandbox could not be started${why === "" ? "" : ` (${why.slice(0, 300)})`}.`, {
    code: "unavailable",
    hint: "Run `hermes doctor` to see what stands in its way.",
  });
}
