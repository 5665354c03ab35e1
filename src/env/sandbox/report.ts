import { ToolError } from "../../tool/errors.js";
import type { ExecResult, SeenEnd } from "../environment.js";
import type { Mount } from "./mounts.js";
import type { SandboxReport } from "./types.js";

/** What a boundary that ordinary work does not notice did to a command that has ended. */
export function guardReport(result: SeenEnd, mounts: readonly Mount[]): SandboxReport {
  const failed = result.exitCode !== 0 && !result.timedOut && !result.cancelled;
  const text = failed ? `${result.output}\n${result.stderr}`.slice(-CHECKED_CHARS) : "";
  const active = { active: true, level: "guard" } as const;
  if (READ_ONLY.test(text)) return { ...active, denied: "write", deniedPath: refusedPath(text) };
  const hidden = mounts.find(({ kind, path }) => kind !== "read" && kind !== "write" && text.includes(path));
  return hidden === undefined ? active : { ...active, denied: "read", deniedPath: hidden.path };
}

/** What the sandbox did to a command that has ended. */
export function sandboxReport(run: {
  readonly result: SeenEnd;
  readonly ended: readonly string[];
  readonly network: boolean;
}): SandboxReport {
  const { result, ended, network } = run;
  // The end of a pipe speaks for itself only, and what was waited for in vain may have been refused.
  const output = `${result.output}\n${result.stderr}`;
  const failed = result.exitCode !== 0 && !result.timedOut && !result.cancelled;
  const denial = findDenial(output, network);
  return {
    active: true,
    level: "strict",
    network: network || undefined,
    ...(failed || denial?.denied !== "other" ? denial : undefined),
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
    sandbox: { active: true, level: "strict", ...result.sandbox, denied: "write", deniedPath },
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

/** What a command's words say about a refusal; only looked at when it failed inside the sandbox. */
export interface Denial {
  readonly denied: "network" | "write" | "other";
  readonly deniedPath?: string | undefined;
}

const READ_ONLY = /Read-only file system|\bEROFS\b|Device or resource busy|\bEBUSY\b/i;
const NETWORK = new RegExp(
  [
    "Network is unreachable|\\bENETUNREACH\\b|Could not resolve (?:host|proxy)|Name or service not known",
    "Temporary failure in name resolution|\\bEAI_AGAIN\\b|\\bENOTFOUND\\b|No address associated with hostname",
    "unable to resolve host|failed to lookup address|Could not connect to server|no such host|dial (?:tcp|udp)",
    "Failed to establish a new connection|Couldn't connect to server|Cannot assign requested address",
    "No matching distribution found|Could not find a version that satisfies",
  ].join("|"),
  "i",
);
/** What the filter of system calls refuses, and what lies behind it. */
const OTHER =
  /Operation not permitted|\bEPERM\b|Address family not supported|cannot open netlink|setns|unshare failed/i;
const CHECKED_CHARS = 20_000;

export function findDenial(output: string, network: boolean): Denial | undefined {
  const text = output.slice(-CHECKED_CHARS);
  if (READ_ONLY.test(text)) {
    return { denied: "write", deniedPath: refusedPath(text) };
  }
  if (!network && NETWORK.test(text)) return { denied: "network" };
  return OTHER.test(text) ? { denied: "other" } : undefined;
}

/** The absolute path next to the words, if there is one: `touch: cannot touch '/etc/x': Read-only file system`. */
function refusedPath(text: string): string | undefined {
  for (const line of text.split("\n").reverse()) {
    if (!READ_ONLY.test(line)) continue;
    const quoted = /['"‘`](\/[^'"’`]+)['"’`]/.exec(line)?.[1];
    const bare = /(?:^|[\s:])(\/[^\s:'"]+):? /.exec(line)?.[1];
    const path = quoted ?? bare;
    if (path !== undefined) return path;
  }
  return undefined;
}
