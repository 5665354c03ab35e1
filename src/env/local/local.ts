import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type {
  Confine,
  Environment,
  EnvironmentDescription,
  EnvironmentFiles,
  ExecRequest,
  ExecResult,
  ProgramRequest,
  RunningProcess,
  SessionPlace,
  SpawnRequest,
  Transfer,
  TransferReport,
} from "../environment.js";
import type { GuardRequest } from "../sandbox/guard-plan.js";
import type { Unavailable } from "../sandbox/probe.js";
import { realPath } from "../sandbox/real-path.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { SandboxOptions } from "../sandbox/types.js";
import type { Boundaries, Boundary } from "./boundaries.js";
import { describeLocal } from "./describe-local.js";
import { createLocalFiles } from "./local-files.js";
import type { ProcessHost } from "./prepare.js";
import { sessionFiles } from "./session-files.js";
import type { SessionPlaces } from "./session-places.js";
import type { Starter } from "./starter.js";

export interface LocalEnvironmentOptions {
  readonly name?: string;
  /** The environment the allow-list picks from; the runtime's own by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** Variables let through on top of the allow-list. */
  readonly passthrough?: readonly string[];
  /** Folder for what must touch the disk for a moment; the system's temporary folder by default. */
  readonly stateDir?: string;
  /** The boundary around commands; without it they run with all rights of this process. */
  readonly sandbox?: SandboxOptions;
  /** Start programs from a small helper process where that works, which is the default. */
  readonly launcher?: boolean;
}

/** The machine this runtime runs on. Each exec is a fresh `bash -c` in a process group of its own. */
export function createLocalEnvironment(options: LocalEnvironmentOptions = {}): Environment {
  const name = options.name ?? "local";
  const env = options.env ?? process.env;
  const home = () => env.HOME || homedir();
  const runtimeMark = randomUUID();
  // Loaded with the first command: a session that only touches files never needs them.
  let machinery: ReturnType<typeof loadMachinery> | undefined;
  let sandboxing: Promise<Sandbox | Unavailable> | undefined;
  let boundaries: Promise<Boundaries> | undefined;
  let guarding: ReturnType<typeof loadGuarding> | undefined;
  let places: Promise<SessionPlaces> | undefined;
  /** What runs, with the switch that ends it. */
  const running = new Map<AbortController, Promise<unknown>>();
  const spawned = new Set<RunningProcess>();
  let closed = false;
  const isStrict = ["auto", "strict", "required"].includes(options.sandbox?.mode ?? "off");

  function loaded() {
    machinery ??= loadMachinery({
      mark: runtimeMark,
      folder: options.stateDir,
      path: env.PATH,
      launcher: options.launcher ?? true,
    });
    return machinery;
  }

  async function hostFor(request: ProgramRequest) {
    const parts = await loaded();
    const wanted = options.sandbox ?? { mode: "off" };
    const inGuard = (await isGuarded(wanted)) && (await isForGuard(request.confine, wanted));
    const guard = inGuard && request.sandbox?.off !== true ? await boundaryFor(request, wanted) : undefined;
    const [boundary, unguarded] = guard === undefined || "id" in guard ? [guard] : [undefined, guard];
    const sandbox = inGuard ? undefined : await sandboxFor(request, wanted);
    const places = sandbox === undefined ? undefined : await sessionPlaces();
    const shared = await places?.for(request);
    try {
      // The launcher notices by itself when a folder is missing, which saves a look at each.
      if (sandbox !== undefined || !isAbsolute(request.cwd) || request.cwd.includes("\0")) {
        await parts.requireDirectory(request.cwd, places?.at(request.cwd, request));
      }
      if (closed) throw isClosed();
    } catch (error) {
      boundary?.release();
      throw error;
    }
    const { start, startInTerminal } = parts.starter;
    const { passthrough = [] } = options;
    const host: ProcessHost = {
      env,
      passthrough,
      runtimeMark,
      start,
      startInTerminal,
      sandbox,
      boundary,
      shared,
    };
    return { ...parts, host, unguarded };
  }

  /** `auto` is at least what `guard` is, which it is stricter than. */
  async function isGuarded(wanted: SandboxOptions): Promise<boolean> {
    return wanted.mode === "guard" || (wanted.mode === "auto" && "unavailable" in (await sandboxOf(wanted)));
  }

  /** A script that no sandbox can shut in here is at least in the guard, as any command. */
  async function isForGuard(confine: Confine | undefined, wanted: SandboxOptions): Promise<boolean> {
    if (confine === undefined) return true;
    return confine.mode === "auto" && "unavailable" in (await sandboxOf(wanted));
  }

  function sessionPlaces(): Promise<SessionPlaces> {
    places ??= Promise.all([import("./session-places.js"), loaded()]).then(
      ([module, { starter }]) =>
        new module.SessionPlaces({
          ...(options.sandbox ?? { mode: "off" }),
          home,
          folder: options.stateDir,
          launcher: starter.launcher,
        }),
    );
    return places;
  }

  function allBoundaries(): Promise<Boundaries> {
    boundaries ??= Promise.all([import("./boundaries.js"), loaded()]).then(
      ([module, { starter }]) =>
        new module.Boundaries({
          launcher: starter.launcher,
          program: options.sandbox?.program,
          path: env.PATH,
          folder: options.stateDir ?? tmpdir(),
        }),
    );
    return boundaries;
  }

  /** Where none can be made, commands run all the same, and are told so. */
  async function boundaryFor(
    request: ProgramRequest,
    wanted: SandboxOptions,
  ): Promise<Boundary | Unavailable> {
    const all = await allBoundaries();
    guarding ??= loadGuarding();
    const { configuredPaths, homesOf, homesOfOthers, openedPaths, isHiddenBy } = await guarding;
    const homes = homesOf(home());
    const { write = [], read = [] } = request.sandbox ?? {};
    const program = typeof request.command === "string" ? undefined : request.command[0];
    const usual: GuardRequest = {
      homes,
      others: homesOfOthers(homes),
      workspace: request.workspace ?? wanted.workspace,
      hidden: wanted.hidden ?? [],
      program: wanted.ownFiles ?? [],
      shown: [...(wanted.visible ?? []), ...visibleTo(request)],
      writable: [...configuredPaths(wanted.writable ?? [], homes), ...openedPaths(write, homes)],
      runtimeDir: env.XDG_RUNTIME_DIR,
      sshAgent: env.SSH_AUTH_SOCK,
    };
    const boundary = await all.for(usual);
    if ("unavailable" in boundary) return boundary;
    for (const path of write) all.allow(path);
    const hidden = [...read, ...(program !== undefined && isAbsolute(program) ? [program] : [])].filter(
      (path) => isHiddenBy(boundary.plan.mounts, path),
    );
    if (hidden.length === 0) return boundary;
    boundary.release();
    return all.for({ ...usual, shown: [...usual.shown, ...hidden] });
  }

  async function exec(asked: ExecRequest): Promise<ExecResult> {
    const lifted = await gitSettings(asked);
    // With the environment's own variables: what earlier commands exported must not decide which git it is.
    const request = lifted === undefined ? asked : { ...asked, env: undefined };
    const { runProcess, host: usual, unguarded } = await hostFor(request);
    const host = { ...usual, lifted };
    const comeBack = request.sandbox?.off === true ? (await boundaries)?.goOutside() : undefined;
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) stop.abort();
    const run = runProcess({ ...request, signal: stop.signal }, host);
    running.set(stop, run);
    try {
      const result = await run;
      const told = lifted === undefined ? result : { ...result, exported: undefined };
      return unguarded === undefined ? told : { ...told, unguarded: unguardedWords(unguarded) };
    } finally {
      host.boundary?.release();
      comeBack?.();
      running.delete(stop);
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  /** A line that only sets what no program is run for may write the file that holds it. */
  async function gitSettings({ command, workspace, sandbox, confine }: ExecRequest) {
    const place = workspace ?? options.sandbox?.workspace;
    if (!isStrict || place === undefined || (sandbox ?? confine) !== undefined) return undefined;
    if (typeof command !== "string" || !command.includes("git ")) return undefined;
    const { isGitSettingsOnly } = await import("../sandbox/git-settings.js");
    return isGitSettingsOnly(command) ? [join(realPath(place) ?? place, ".git/config")] : undefined;
  }

  async function spawn(request: SpawnRequest): Promise<RunningProcess> {
    const { host, requireDirectory, starter, unguarded } = await hostFor(request);
    let child: RunningProcess;
    try {
      if (host.sandbox === undefined) await requireDirectory(request.cwd);
      const { pty } = request;
      const { spawnInTerminal, spawnProcess } = await import("./spawn-process.js");
      // Without a boundary, programs in terminals are started by this process, so the launcher has to be told.
      if (pty !== undefined && host.boundary === undefined) await starter.expectStrangers();
      child = await (pty === undefined
        ? spawnProcess(request, host)
        : spawnInTerminal({ ...request, pty }, host));
    } finally {
      host.boundary?.release();
    }
    Object.assign(child, { heldBy: await holding(host, { request, unguarded }) });
    spawned.add(child);
    void child.ended.then(() => spawned.delete(child));
    if (closed) {
      await child.end();
      throw isClosed();
    }
    return child;
  }

  async function holding(
    { boundary, sandbox }: ProcessHost,
    run: { readonly request: SpawnRequest; readonly unguarded: Unavailable | undefined },
  ): Promise<RunningProcess["heldBy"]> {
    const { request, unguarded } = run;
    if (unguarded !== undefined) return () => ({ unguarded: unguardedWords(unguarded) });
    if (request.confine !== undefined || (boundary ?? sandbox) === undefined) return undefined;
    const { guardReport, sandboxReport } = await import("../sandbox/report.js");
    if (boundary !== undefined) return (seen) => ({ sandbox: guardReport(seen, boundary.plan.mounts) });
    const network = request.sandbox?.network ?? options.sandbox?.network ?? false;
    return (seen) => ({ sandbox: sandboxReport({ result: seen, ended: [], network }) });
  }

  function isClosed(): ToolError {
    return new ToolError(`The environment ${name} is closed.`, {
      code: "unavailable",
      hint: "Open a new session.",
    });
  }

  async function sandboxFor(request: ProgramRequest, wanted: SandboxOptions): Promise<Sandbox | undefined> {
    if (request.confine !== undefined) return sandboxAround(request.confine, wanted);
    if (wanted.mode === "off") return undefined;
    if (request.sandbox?.off === true && wanted.mode !== "required") return undefined;
    const sandbox = await sandboxOf(wanted);
    if (request.sandbox?.off === true) throw mustStayInside();
    if (!("unavailable" in sandbox)) return sandbox;
    throw new ToolError(`No command runs without a sandbox (terminal.sandbox): ${sandbox.unavailable}.`, {
      code: "unavailable",
      hint: `To run commands: ${sandbox.fix}, or set terminal.sandbox to guard or off.`,
    });
  }

  async function sandboxAround(confine: Confine, wanted: SandboxOptions): Promise<Sandbox | undefined> {
    const sandbox = await sandboxOf(wanted);
    if (!("unavailable" in sandbox)) return sandbox;
    if (confine.mode === "auto" && wanted.mode !== "required") return undefined;
    throw new ToolError(
      `This program runs in a sandbox only, and there is none here: ${sandbox.unavailable}.`,
      {
        code: "unavailable",
        hint: `To run it: ${sandbox.fix}. \`hermes doctor\` shows whether that worked.`,
      },
    );
  }

  function sandboxOf(wanted: SandboxOptions): Promise<Sandbox | Unavailable> {
    sandboxing ??= import("../sandbox/sandbox.js").then(({ createSandbox }) =>
      createSandbox({ ...wanted, home: home() }),
    );
    return sandboxing;
  }

  async function describe(): Promise<EnvironmentDescription> {
    const { mode = "off" } = options.sandbox ?? {};
    const [{ starter }, sandbox] = await Promise.all([loaded(), isolationOf(options.sandbox)]);
    const problem = sandbox !== undefined && "unavailable" in sandbox ? sandbox : undefined;
    const guardedBy = sandbox !== undefined && "by" in sandbox ? sandbox.by : undefined;
    return describeLocal({
      name,
      cwd: process.cwd(),
      home: home(),
      env,
      launcher: (await starter.launcher()) !== undefined,
      sandbox: { mode, problem, guardedBy },
    });
  }

  async function isolationOf(wanted: SandboxOptions | undefined) {
    if (wanted === undefined || wanted.mode === "off") return undefined;
    if (!(await isGuarded(wanted))) return sandboxOf(wanted);
    const boundary = await boundaryFor({ command: "", cwd: "/" }, wanted);
    if ("id" in boundary) boundary.release();
    return boundary;
  }

  async function copy(transfer: Transfer): Promise<TransferReport> {
    const { copyTree } = await import("./transfer.js");
    return copyTree(transfer);
  }

  /** What a file tool writes was judged before; it is no start-up file that a command has put there. */
  function tellingBoundaries(files: EnvironmentFiles): EnvironmentFiles {
    const meant = async (path: string) => (await boundaries)?.allow(path);
    const { writeWhenReady } = files;
    return {
      ...files,
      write: async (path, data, more) => {
        await meant(path);
        return files.write(path, data, more);
      },
      ...(writeWhenReady !== undefined && {
        writeWhenReady: async (path, data, more) => {
          await meant(path);
          return writeWhenReady(path, data, more);
        },
      }),
      rename: async (from, to) => {
        await meant(to);
        return files.rename(from, to);
      },
    };
  }

  async function close(): Promise<void> {
    closed = true;
    for (const stop of running.keys()) stop.abort();
    await Promise.allSettled([...running.values(), ...[...spawned].map((child) => child.end())]);
    await (await machinery)?.starter.close();
    (await boundaries)?.close();
    const sandbox = await sandboxing?.catch(() => undefined);
    if (sandbox !== undefined && !("unavailable" in sandbox)) sandbox.close();
    (await places)?.close();
  }

  const files = tellingBoundaries(createLocalFiles({ home }));
  /** In the strict sandbox the temporary folders of a session are its own, for file tools too. */
  function filesOf(session: SessionPlace & { readonly workspace: string }): EnvironmentFiles {
    const whose = { session, workspace: session.workspace };
    let known: SessionPlaces | undefined;
    return sessionFiles(files, {
      async at(path) {
        if (!path.startsWith("/tmp") && !path.startsWith("/var/tmp")) return path;
        const sandbox = await sandboxOf(options.sandbox ?? { mode: "off" });
        if ("unavailable" in sandbox) return path;
        known = await sessionPlaces();
        return known.at(path, whose);
      },
      named: (text) => known?.named(text, session.id) ?? text,
    });
  }

  return {
    name,
    kind: "local",
    files,
    waitsForReady: true,
    ...(isStrict && {
      filesOf,
      endSession: (session: string) => void places?.then((each) => each.forget(session)),
      ownNetwork: true,
    }),
    exec,
    spawn,
    fetch: copy,
    push: copy,
    describe,
    close,
  };
}

/** Only what is there: sessions that have nothing of their own share one boundary. */
function visibleTo({ session }: ProgramRequest): readonly string[] {
  return session?.visible.filter((path) => existsSync(path)) ?? [];
}

function unguardedWords({ unavailable, fix }: Unavailable): string {
  return `⚠ Nothing keeps commands from credentials, start-up files and Hermes' own files here: ${unavailable}. Fix: ${fix}.`;
}

function mustStayInside(): ToolError {
  return new ToolError("Commands may not leave the sandbox: terminal.sandbox is set to required.", {
    code: "denied",
    hint: 'Ask for what the command needs instead (widen: ["network"] or ["write:/path"]).',
  });
}

async function loadGuarding() {
  const [plan, { isHiddenBy }] = await Promise.all([
    import("../sandbox/plan.js"),
    import("../sandbox/guard-plan.js"),
  ]);
  return { ...plan, isHiddenBy };
}

async function loadMachinery(options: ConstructorParameters<typeof Starter>[0]) {
  const [{ Starter }, { runProcess }, { requireDirectory }] = await Promise.all([
    import("./starter.js"),
    import("./run-process.js"),
    import("../working-folder.js"),
  ]);
  return { starter: new Starter(options), runProcess, requireDirectory };
}
