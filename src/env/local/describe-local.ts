import { readFile } from "node:fs/promises";
import { arch, hostname, release, type, userInfo } from "node:os";
import type { EnvironmentDescription } from "../environment.js";
import type { Unavailable } from "../sandbox/probe.js";
import type { SandboxOptions } from "../sandbox/types.js";
import type { Boundary } from "./boundaries.js";

export interface LocalFacts {
  readonly name: string;
  readonly cwd: string;
  readonly home: string;
  /** The runtime's own variables. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether programs start from the small helper process. */
  readonly launcher: boolean;
  readonly sandbox: {
    readonly mode: SandboxOptions["mode"];
    /** Why it does not work here; undefined when it does, or was not tried because it is off. */
    readonly problem?: Unavailable | undefined;
    /** What makes the guard, where one is made. */
    readonly guardedBy?: Boundary["by"] | undefined;
  };
}

/** What the machine is that commands run on, and how they run there. */
export async function describeLocal(local: LocalFacts): Promise<EnvironmentDescription> {
  const { mode, problem } = local.sandbox;
  const required = (mode === "required" || mode === "strict") && problem !== undefined;
  return {
    name: local.name,
    kind: "local",
    ok: !required,
    ...(required && {
      reason: `no command runs without a sandbox: ${problem.unavailable}`,
      fix: problem.fix,
    }),
    cwd: local.cwd,
    home: local.home,
    facts: {
      os: await systemName(),
      machine: `${hostname() || "unnamed"} (${arch()})`,
      user: userName(),
      shell: local.env.SHELL || "bash",
      isolation: isolation(local.sandbox),
      starts: local.launcher ? "from a helper process" : "from the runtime itself",
      node: process.version,
    },
  };
}

function isolation({ mode, problem, guardedBy }: LocalFacts["sandbox"]): string {
  if (mode === "off") return "none (terminal.sandbox is off)";
  if (problem === undefined) return guardedBy === undefined ? "bubblewrap" : `${guardedBy} (guard)`;
  return mode === "auto" || mode === "guard"
    ? `none (${problem.unavailable})`
    : `missing (${problem.unavailable})`;
}

async function systemName(): Promise<string> {
  const kernel = `${type()} ${release()}`;
  const file = await readFile("/etc/os-release", "utf8").catch(() => "");
  const name = /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(file)?.[1];
  return name === undefined ? kernel : `${name}, ${kernel}`;
}

/** A user without an entry in the system's list has a number only. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
