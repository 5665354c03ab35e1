import { dirname } from "node:path/posix";
import { delegateEnvironment } from "../call/delegate-environment.js";
import { ToolError } from "../tool/errors.js";
import type {
  Environment,
  EnvironmentFiles,
  ExecRequest,
  ExecResult,
  SessionPlace,
  SpawnRequest,
} from "./environment.js";
import { isMissingFolder } from "./working-folder.js";

/** Beyond this, exported variables are not carried on: every command of the task would have to bring them. */
const MAX_KEPT_BYTES = 65_536;

/**
 * Variables that belong to one shell, or that would change how the next one reads its own start-up line or
 * which code it loads. They work inside the command that sets them and are not carried on.
 */
const NOT_KEPT =
  /^(?:_|SHLVL|PWD|OLDPWD|PPID|RANDOM|SECONDS|LINENO|SHELLOPTS|PS4|ENV|IFS|PROMPT_COMMAND|BASH.*|LD_(?:PRELOAD|AUDIT)|HERMES_.*)$/;

/** Names of outside sources that are remembered; that there is one at all matters more than all of them. */
const MAX_HEARD = 20;

/** What one task's commands leave for the next one: where they stand and what they exported. */
export class TaskState {
  /** Nothing that a tool is asked to do moves it; only commands of the task do. */
  #cwd: string;
  #exported: Readonly<Record<string, string | undefined>> = {};
  #version = 0;
  #heard: readonly string[] = [];
  /** When the outermost task began, in milliseconds since 1970: what is newer may be its own work. */
  readonly startedAt: number;

  constructor(cwd: string, startedAt: number = Date.now()) {
    this.#cwd = cwd;
    this.startedAt = startedAt;
  }

  get cwd(): string {
    return this.#cwd;
  }

  get exported(): Readonly<Record<string, string | undefined>> {
    return this.#exported;
  }

  /** Another number whenever something has changed, so that what was judged before can be judged again. */
  get version(): number {
    return this.#version;
  }

  /** Who outside wrote words that the task was given (addresses, servers, senders); the last ones. */
  get heard(): readonly string[] {
    return this.#heard;
  }

  hear(sources: readonly string[]): void {
    const added = sources.filter((source) => !this.#heard.includes(source));
    if (added.length > 0) this.#heard = [...this.#heard, ...added].slice(-MAX_HEARD);
  }

  /** A task of its own that begins where this one stands. */
  copy(): TaskState {
    const copy = new TaskState(this.#cwd, this.startedAt);
    copy.#exported = this.#exported;
    copy.#heard = this.#heard;
    return copy;
  }

  /** Goes on where a task of another process stood. */
  resume(left: Pick<TaskState, "cwd" | "exported">): void {
    this.moveTo(left.cwd);
    if (sameAs(this.#exported, Object.entries(left.exported))) return;
    this.#exported = left.exported;
    this.#version += 1;
  }

  moveTo(cwd: string): void {
    if (cwd === this.#cwd) return;
    this.#cwd = cwd;
    this.#version += 1;
  }

  /** A command that was sent to a folder of its own leaves the task where it is. */
  note(request: Pick<ExecRequest, "cwd" | "env">, result: ExecResult): void {
    if (result.timedOut || result.cancelled) return;
    if (result.cwd !== undefined && request.cwd === this.#cwd) this.moveTo(result.cwd);
    if (result.exported === undefined) return;
    const left = { ...result.exported };
    // What was given to this one command and not changed by it is over with it.
    for (const [name, given] of Object.entries(request.env ?? {})) {
      if (left[name] !== given) continue;
      if (Object.hasOwn(this.#exported, name)) left[name] = this.#exported[name];
      else delete left[name];
    }
    const kept = Object.entries(left).filter(([name]) => !NOT_KEPT.test(name));
    const bytes = kept.reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0);
    if (bytes > MAX_KEPT_BYTES || sameAs(this.#exported, kept)) return;
    this.#exported = Object.fromEntries(kept);
    this.#version += 1;
  }
}

function sameAs(
  known: Readonly<Record<string, string | undefined>>,
  entries: readonly (readonly [string, string | undefined])[],
): boolean {
  return (
    Object.keys(known).length === entries.length &&
    entries.every(([name, value]) => Object.hasOwn(known, name) && known[name] === value)
  );
}

/**
 * The environment as one task sees it: each command begins with the folder and the exported variables that
 * the one before it left, and may change the task's workspace. Set here and not by tools, so that no argument
 * of a call can move the boundary.
 */
export function inTask(
  environment: Environment,
  task: {
    readonly state: TaskState;
    readonly workspace: string;
    readonly session?: SessionPlace | undefined;
  },
): Environment {
  const { state, workspace, session } = task;
  const place = { workspace, session };
  const files = session === undefined ? undefined : environment.filesOf?.({ ...session, workspace });
  const withState = <R extends ExecRequest | SpawnRequest>(request: R): R => ({
    ...request,
    env: { ...state.exported, ...request.env },
    ...place,
  });
  return delegateEnvironment(environment, {
    ...(files !== undefined && { files }),
    async exec(request) {
      // Programs that tools start by themselves (a search) are not part of the task's shell.
      if (typeof request.command !== "string") return environment.exec({ ...request, ...place });
      if (isWidened(request)) {
        // With the environment's own variables: what commands inside have exported must not decide what runs there.
        const result = await orMovedOut(request, () => environment.exec({ ...request, ...place }));
        state.note(request, { ...result, exported: undefined });
        return result;
      }
      const result = await orMovedOut(request, () => environment.exec(withState(request)));
      state.note(request, result);
      return result;
    },
    spawn: (request) =>
      orMovedOut(request, () =>
        environment.spawn(isWidened(request) ? { ...request, ...place } : withState(request)),
      ),
  });

  async function orMovedOut<T>(request: { readonly cwd: string }, start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      if (request.cwd !== state.cwd || !isMissingFolder(error, request.cwd)) throw error;
      throw await movedOut(files ?? environment.files, state);
    }
  }
}

/** Runs with fewer limits than other commands, because a person has said yes. */
function isWidened({ sandbox }: ExecRequest | SpawnRequest): boolean {
  const { network, off, write = [], read = [] } = sandbox ?? {};
  return network === true || off === true || write.length > 0 || read.length > 0;
}

/**
 * A task whose folder was deleted goes on in the nearest folder that is left, but not with this command: it
 * was meant for another place.
 */
async function movedOut(files: EnvironmentFiles, state: TaskState): Promise<ToolError> {
  const gone = state.cwd;
  let left = dirname(gone);
  while (left !== "/" && (await files.stat(left))?.type !== "directory") left = dirname(left);
  state.moveTo(left);
  return new ToolError(`The working directory ${gone} does not exist any more; nothing was run.`, {
    hint: `Commands now start in ${left}. Call again if the command is right there, or give a workdir.`,
  });
}
