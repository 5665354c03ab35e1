import { randomUUID } from "node:crypto";
import { join } from "node:path/posix";
import { setTimeout as delay } from "node:timers/promises";
import type {
  Environment,
  ExecRequest,
  ExecResult,
  ProcessEnd,
  RunningProcess,
  SpawnRequest,
} from "../../env/environment.js";
import { inTask, TaskState } from "../../env/task.js";
import { fail, same, within } from "./expect.js";
import type { ConformanceSetup } from "./types.js";

/** Variable by which the suite finds the processes of one command again. */
export const TAG = "CONFORMANCE_TAG";
/** Folders that are made at once, because each command elsewhere takes its time. */
const READY_FOLDERS = 150;

/** One task with a folder of its own, as tools use it. */
export interface ConformanceTask {
  readonly folder: string;
  readonly state: TaskState;
  readonly environment: Environment;
  run(command: ExecRequest["command"], changes?: Partial<ExecRequest>): Promise<ExecResult>;
  start(command: SpawnRequest["command"], changes?: Partial<SpawnRequest>): Promise<Started>;
}

export interface ConformanceContext {
  readonly setup: ConformanceSetup;
  readonly startMs: number;
  /** The environment that most cases share. */
  environment(): Promise<Environment>;
  /** A new folder in the environment, by its real path. */
  scratch(environment?: Environment): Promise<string>;
  task(environment?: Environment): Promise<ConformanceTask>;
  /** An environment for one case alone; closed afterwards if the case has not done so. */
  withOwn<T>(
    work: (environment: Environment) => Promise<T>,
    options?: Parameters<ConformanceSetup["open"]>[0],
  ): Promise<T>;
  /** Processes that were started with `TAG=value`. */
  running(value: string): Promise<readonly string[]>;
  /** Closes the shared environment and throws if anything is left. */
  close(): Promise<void>;
}

export function conformanceContext(setup: ConformanceSetup): ConformanceContext {
  const place = setup.place ?? "/tmp";
  const name = `conformance-${randomUUID().slice(0, 8)}`;
  const bases = new Map<Environment, Promise<string>>();
  let shared: Promise<Environment> | undefined;
  let before: readonly string[] | undefined;
  const taken = new Map<Environment, number>();

  async function open(options?: Parameters<ConformanceSetup["open"]>[0]): Promise<Environment> {
    before ??= await setup.leftovers();
    return setup.open(options);
  }

  function environment(): Promise<Environment> {
    shared ??= open();
    return shared;
  }

  function baseOf(each: Environment): Promise<string> {
    let base = bases.get(each);
    if (base === undefined) {
      const own = `${name}/${bases.size}`;
      const make = `mkdir -p ${own} && cd ${own} && mkdir $(seq 1 ${READY_FOLDERS}) && pwd -P`;
      base = inPlace(each, make).then((text) => text.trimEnd());
      bases.set(each, base);
    }
    return base;
  }

  async function inPlace(each: Environment, command: string): Promise<string> {
    const result = await each.exec({
      command,
      cwd: place,
      workspace: place,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    });
    same(result.exitCode, 0, `exit code of ${command} in ${place} (${result.output})`);
    return result.output;
  }

  async function scratch(given?: Environment): Promise<string> {
    const each = given ?? (await environment());
    const base = await baseOf(each);
    const own = (taken.get(each) ?? 0) + 1;
    taken.set(each, own);
    const folder = join(base, String(own));
    if (own > READY_FOLDERS) await inPlace(each, `mkdir ${folder}`);
    return folder;
  }

  async function task(given?: Environment): Promise<ConformanceTask> {
    const each = given ?? (await environment());
    const folder = await scratch(each);
    const state = new TaskState(folder);
    const workspace = await baseOf(each);
    const seen = inTask(each, { state, workspace });
    return {
      folder,
      state,
      environment: seen,
      run: (command, changes) =>
        seen.exec({
          command,
          cwd: state.cwd,
          timeoutMs: 60_000,
          signal: new AbortController().signal,
          ...changes,
        }),
      start: (command, changes) =>
        startedProcess(
          (onOutput): Promise<RunningProcess> =>
            seen.spawn({ command, cwd: state.cwd, onOutput, ...changes }),
        ),
    };
  }

  async function clear(each: Environment): Promise<void> {
    if (bases.delete(each)) await inPlace(each, `chmod -R u+rwX ${name} 2>/dev/null; rm -rf ${name}`);
  }

  return {
    setup,
    startMs: setup.startMs ?? 700,
    environment,
    scratch,
    task,
    async withOwn(work, options) {
      const own = await open(options);
      try {
        return await work(own);
      } finally {
        await own.close();
      }
    },
    async running(value) {
      if (setup.running !== undefined) return setup.running(TAG, value);
      const found = await inPlace(
        await environment(),
        `grep -lsaF '${TAG}=${value}' /proc/[0-9]*/environ; true`,
      );
      return found.split("\n").filter((line) => line !== "");
    },
    async close() {
      if (shared !== undefined) {
        const open = await shared;
        await clear(open);
        await open.close();
      }
      if (before !== undefined) await onlyLeft(setup, before);
    },
  };
}

/** No more may be left than was there. The other side of a connection may need a moment to notice that it is over. */
export async function onlyLeft(setup: ConformanceSetup, expected: readonly string[]): Promise<void> {
  const deadline = Date.now() + 5_000;
  // What others had left before may go meanwhile.
  const more = async () => (await setup.leftovers()).filter((one) => !expected.includes(one));
  while ((await more()).length > 0 && Date.now() < deadline) await delay(50);
  same(await more(), [], "what is there after close that was not before");
}

/** A spawned program with what it has printed so far. */
export interface Started {
  readonly process: RunningProcess;
  text(): string;
  bytes(): number;
  /** Waits until the output contains or matches this. */
  shows(expected: string | RegExp, withinMs?: number): Promise<void>;
  ended(withinMs?: number): Promise<ProcessEnd>;
}

/** Beyond this only the count goes on. */
const KEPT_BYTES = 1_000_000;

export async function startedProcess(
  spawn: (onOutput: (bytes: Uint8Array) => void) => Promise<RunningProcess>,
): Promise<Started> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let kept = 0;
  const process = await spawn((bytes) => {
    total += bytes.byteLength;
    if (kept >= KEPT_BYTES) return;
    kept += bytes.byteLength;
    // The bytes may be in a buffer that is used again.
    chunks.push(Uint8Array.from(bytes));
  });
  const text = () => Buffer.concat(chunks).toString("utf8");
  return {
    process,
    text,
    bytes: () => total,
    async shows(expected, withinMs = 15_000) {
      const deadline = Date.now() + withinMs;
      const there = () => (typeof expected === "string" ? text().includes(expected) : expected.test(text()));
      while (!there()) {
        if (Date.now() > deadline) {
          fail({
            what: "output of the started program",
            expected: String(expected),
            seen: JSON.stringify(text().slice(-600)),
          });
        }
        await delay(10);
      }
    },
    ended: (withinMs = 15_000) => within(withinMs, "the started program's end", process.ended),
  };
}
