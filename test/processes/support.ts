import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import {
  createProcessTable,
  type ProcessTable,
  type ProcessTableOptions,
} from "../../src/env/processes/process-table.js";
import type { SessionProcesses, StartProcess, TrackedProcess } from "../../src/env/processes/types.js";
import type { ProcessEvent } from "../../src/observe/events.js";
import { createLogger } from "../../src/observe/log.js";
import { openStore, type Store } from "../../src/store/store.js";
import { onTestEnd, tempDir } from "../support/runtime.js";

export interface TestTable {
  readonly table: ProcessTable;
  readonly home: string;
  readonly folder: string;
  readonly cwd: string;
  readonly environment: Environment;
  readonly events: ProcessEvent[];
  readonly logged: string[];
  readonly opened: () => number;
  session(id?: string): SessionProcesses;
  start(command: string, more?: Partial<StartProcess>): Promise<TrackedProcess>;
}

/** A table with a store of its own on the real local environment; both are closed at the end. */
export function testTable(
  options: Partial<ProcessTableOptions> & { readonly home?: string; readonly environment?: Environment } = {},
): TestTable {
  const home = options.home ?? tempDir();
  const cwd = tempDir();
  const environment = options.environment ?? createLocalEnvironment();
  const events: ProcessEvent[] = [];
  const logged: string[] = [];
  let store: Promise<Store> | undefined;
  let opened = 0;
  const folder = join(home, "processes");
  const table = createProcessTable({
    store: () => {
      opened += 1;
      store ??= openStore({ path: join(home, "state.db") });
      return store;
    },
    folder,
    redact: (text) => text.replaceAll("hunter2-secret", "***"),
    log: createLogger({ level: "debug", sink: (line) => void logged.push(line) }),
    emit: (event) => void events.push(event),
    ...options,
  });
  onTestEnd(async () => {
    await table.close();
    await environment.close();
    await (await store)?.close();
  });
  const session = (id = "s_1") => table.forSession(id);
  return {
    ...{ table, home, folder, cwd, environment, events, logged, session },
    opened: () => opened,
    start: (command, more = {}) => session().start({ environment, command, title: command, cwd, ...more }),
  };
}

export async function until(condition: () => boolean | Promise<boolean>, what = "it"): Promise<void> {
  for (const deadline = Date.now() + 15_000; !(await condition()); ) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within 15 s`);
    await delay(10);
  }
}

/** Living processes whose command line holds this word. */
export function living(word: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const state = /\) (\S)/.exec(readFileSync(`/proc/${name}/stat`, "latin1"))?.[1];
        return state !== "Z" && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(word);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A duration nobody else on the machine sleeps for; what still sleeps it at the end is ended. */
let serial = 0;
export function oddSeconds(): string {
  serial += 1;
  const seconds = `${2000 + serial}.${process.pid}`;
  onTestEnd(() => {
    for (const pid of living(seconds)) process.kill(pid, "SIGKILL");
  });
  return seconds;
}
