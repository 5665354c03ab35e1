import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import type { ProgramRequest } from "../environment.js";
import { findProgram } from "../find-program.js";
import type { Confinement, Sandbox } from "../sandbox/sandbox.js";
import type { SandboxLimits } from "../sandbox/types.js";
import type { Boundary } from "./boundaries.js";
import type { StartChild, StartInTerminal } from "./child.js";
import { baseEnvironment, changedEnvironment, refuseOversized } from "./child-env.js";
import { EXEC_MARK, RUNTIME_MARK } from "./marks.js";
import type { SharedPlaces } from "./session-places.js";

const SHELL = "bash";

/** What programs of one environment have in common. */
export interface ProcessHost {
  readonly env: NodeJS.ProcessEnv;
  readonly passthrough: readonly string[];
  readonly runtimeMark: string;
  readonly start: StartChild;
  /** Present when commands run in a sandbox of their own. */
  readonly sandbox?: Sandbox | undefined;
  /** Present where the launcher can give a program a terminal. */
  readonly startInTerminal?: StartInTerminal | undefined;
  /** Present when they run in a boundary of the launcher's. */
  readonly boundary?: Boundary | undefined;
  /** In the sandbox: protected files that this one may replace. */
  readonly lifted?: readonly string[] | undefined;
  /** In the sandbox: what this one shares with others of its session. */
  readonly shared?: SharedPlaces | undefined;
}

/** A program ready to be started. */
export interface Prepared {
  readonly mark: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What every program here gets when its request adds nothing. */
  readonly base: Readonly<Record<string, string>>;
  readonly confinement: Confinement | undefined;
  readonly boundary: Boundary | undefined;
  /** Of the launcher: where it is started, be it a boundary or a network around its sandbox. */
  readonly within: number | undefined;
  /** Files into which whoever starts it writes `0` first: that puts it into its groups. */
  readonly joinFiles: readonly string[];
}

/** How a command becomes the arguments to start, outside and inside of a sandbox. */
export interface Vectors {
  readonly plain: (command: ProgramRequest["command"]) => readonly string[];
  readonly confined: (command: ProgramRequest["command"], limits: SandboxLimits) => readonly string[];
}

export async function prepareProgram(
  request: ProgramRequest,
  host: ProcessHost,
  vectors: Vectors,
): Promise<Prepared> {
  const mark = randomUUID();
  const { passthrough, sandbox, boundary, shared } = host;
  const all = baseEnvironment({ parent: host.env, passthrough });
  const base =
    boundary === undefined
      ? all
      : insideBoundary(all, { sshAgent: host.env.SSH_AUTH_SOCK, tmp: boundary.tmp });
  const marks = { [EXEC_MARK]: mark, [RUNTIME_MARK]: host.runtimeMark };
  const env = changedEnvironment(base, { ...request.env, ...marks });
  const shell = shellOn(base.PATH);
  const isLine = typeof request.command === "string";
  const plain = byPath(vectors.plain(request.command), isLine ? shell : undefined);
  refuseOversized(plain, env);
  if (sandbox === undefined) {
    return {
      mark,
      argv: plain,
      cwd: request.cwd,
      env,
      base,
      confinement: undefined,
      boundary,
      within: boundary?.id,
      joinFiles: [],
    };
  }
  const confinement = await sandbox.confine({
    cwd: request.cwd,
    workspace: request.workspace,
    visible: request.session?.visible,
    lifted: host.lifted,
    tmp: shared?.tmp,
    hidden: shared?.hidden,
    inNetwork: shared?.network !== undefined,
    widening: request.sandbox,
    confine: request.confine,
    program: programPath(request.command),
    path: base.PATH,
    env,
  });
  const inside = byPath(vectors.confined(request.command, confinement.limits), shell);
  const argv = [...confinement.argv, ...inside];
  const { joinFiles } = confinement;
  return {
    mark,
    argv,
    cwd: "/",
    env: confinement.env,
    base,
    confinement,
    boundary: undefined,
    within: shared?.network,
    joinFiles,
  };
}

/** The bus is a socket that a boundary covers. Keys are covered too, so an agent has to sign in their place. */
function insideBoundary(
  { DBUS_SESSION_BUS_ADDRESS: _bus, ...base }: Readonly<Record<string, string>>,
  { sshAgent, tmp }: { readonly sshAgent: string | undefined; readonly tmp: string | undefined },
): Readonly<Record<string, string>> {
  return {
    ...base,
    ...(sshAgent !== undefined && { SSH_AUTH_SOCK: sshAgent }),
    ...(tmp !== undefined && { TMPDIR: tmp }),
  };
}

/** What shuts a program in that asked for it. */
export function shutInBy(
  { confinement, boundary }: Prepared,
  confine: ProgramRequest["confine"],
): string | undefined {
  if (confine === undefined) return undefined;
  return confinement?.confinedBy ?? (boundary === undefined ? undefined : `${boundary.by} (guard)`);
}

let lastShell: { readonly path: string | undefined; readonly shell: string } | undefined;

function shellOn(path: string | undefined): string {
  if (lastShell === undefined || lastShell.path !== path) {
    lastShell = { path, shell: findProgram(SHELL, { PATH: path }) ?? SHELL };
  }
  return lastShell.shell;
}

/** The shell is the environment's own, whatever PATH a task has given itself. */
function byPath(argv: readonly string[], shell: string | undefined): readonly string[] {
  return shell === undefined || argv[0] !== SHELL ? argv : [shell, ...argv.slice(1)];
}

/** Only of an argument vector: what a shell line names was written by a model. */
function programPath(command: ProgramRequest["command"]): string | undefined {
  const program = typeof command === "string" ? undefined : command[0];
  return program !== undefined && isAbsolute(program) ? program : undefined;
}
