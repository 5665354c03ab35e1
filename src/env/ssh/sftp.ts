import { spawn } from "node:child_process";
import { ToolError } from "../../tool/errors.js";

export interface SftpRun {
  /** Of the connection it goes over. */
  readonly socket: string;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  /** Lines of a batch file; a leading dash lets one fail. */
  readonly commands: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** The host is never asked for: the socket knows it. Without the socket nothing may be connected. */
const NO_HOST = "hermes";
const NO_NEW_CONNECTION = "ProxyCommand=false";

/** Whether everything was done. Why not does not matter: another way of copying is tried, and says it better. */
export async function runSftp(run: SftpRun): Promise<boolean> {
  refuseCancelled(run.signal);
  const child = spawn("sftp", [...sftpArguments(run)], {
    env: { ...run.env, LC_ALL: "C" },
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaints.length < 65_536) complaints += chunk.toString("utf8");
  });
  child.stdin.on("error", () => {});
  child.stdin.end(`${run.commands.join("\n")}\n`);
  const onAbort = () => endGroup(child.pid);
  run.signal?.addEventListener("abort", onAbort, { once: true });
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (exitCode) => resolve(exitCode ?? 255));
  });
  run.signal?.removeEventListener("abort", onAbort);
  refuseCancelled(run.signal);
  // Links and devices inside a folder are left out with a remark (which `-q` would hide), not with an error.
  return code === 0 && !complaints.includes("regular file");
}

/** A name as one word of a batch file, taken as it is; undefined when the format has no way to write it. */
export function batchWord(path: string): string | undefined {
  return /[\n\r\0]/.test(path) ? undefined : `"${path.replace(/["\\]/g, "\\$&")}"`;
}

function sftpArguments(run: SftpRun): readonly string[] {
  const options = ["BatchMode=yes", "ControlMaster=no", `ControlPath="${run.socket}"`, NO_NEW_CONNECTION];
  return [
    "-b",
    "-",
    "-F",
    "none",
    "-S",
    run.program,
    ...options.flatMap((option) => ["-o", option]),
    NO_HOST,
  ];
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function refuseCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new ToolError("The copy was cancelled; what had arrived by then may be incomplete.", {
    code: "cancelled",
  });
}
