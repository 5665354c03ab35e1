import { type Collected, collect } from "./collect.js";
import type { Connection } from "./connection.js";
import { lostWhileWorking } from "./remote-error.js";
import { errorFromThere } from "./there-errors.js";

const LIMIT_MS = 120_000;

export interface ScriptRun {
  readonly connection: Connection;
  readonly script: string;
  readonly args: readonly string[];
  readonly stdin?: Uint8Array;
  /** For errors: what was being done, to what. */
  readonly path: string;
  readonly action: string;
  readonly expected?: string | undefined;
  readonly limitMs?: number;
  readonly maxBytes?: number;
}

/** Runs a file script there; what it says went wrong becomes an error. */
export async function runScript(run: ScriptRun): Promise<Collected> {
  const { connection } = run;
  const end = await collect({
    transport: connection.transport,
    argv: ["sh", "-c", run.script, "sh", ...run.args],
    ...(run.stdin !== undefined && { stdin: run.stdin }),
    limitMs: run.limitMs ?? LIMIT_MS,
    ...(run.maxBytes !== undefined && { maxBytes: run.maxBytes }),
  });
  if ("lost" in end) {
    connection.noteLost(end.lost);
    throw lostWhileWorking(connection.name, end.lost);
  }
  if (end.exitCode !== 0) throw errorFromThere({ ...run, stderr: end.stderr });
  return end;
}
