import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { runningWith } from "../sandbox/support.js";

/** `npm run faults` runs everything at the size that the figures are about; `npm test` a small part of it. */
export const FULL = process.env.HERMES_FAULTS === "full";

export const TAG = "FAULTS_TAG";

/** A runtime of the built package in a process of its own, driven by lines of JSON. */
export interface RuntimeProcess {
  readonly pid: number;
  readonly home: string;
  /** Everything it started, itself included, carries `FAULTS_TAG` with this value. */
  readonly tag: string;
  /** Waits for the next line it prints. */
  answer(): Promise<Record<string, unknown>>;
  send(line: Record<string, unknown>): void;
  kill(): Promise<void>;
  /** Asks it to close and waits. */
  close(): Promise<void>;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

export function faultHome(): { readonly home: string; remove(): void } {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-faults-")));
  mkdirSync(join(home, "work"));
  writeFileSync(
    join(home, "config.yaml"),
    `approvals:\n  mode: off\nterminal:\n  env_passthrough: [${TAG}]\n  max_processes: 1000\n`,
  );
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

export async function startRuntime(
  home: string,
  options: {
    readonly script: string;
    readonly args?: Record<string, unknown>;
    readonly env?: Readonly<Record<string, string>>;
    readonly nodeOptions?: readonly string[];
  },
): Promise<RuntimeProcess> {
  const tag = randomUUID();
  const child = spawn(
    process.execPath,
    [
      ...(options.nodeOptions ?? []),
      fileURLToPath(new URL(options.script, import.meta.url)),
      JSON.stringify({ dist: join(root, "dist"), home, ...options.args }),
    ],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TERM: "dumb",
        TMPDIR: process.env.TMPDIR,
        [TAG]: tag,
        ...options.env,
      },
    },
  );
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-4_000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = exitOf(child);
  const { pid } = child;
  if (pid === undefined) throw new Error("the runtime could not be started");
  return {
    pid,
    home,
    tag,
    async answer() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the runtime has ended: ${complaints}`);
      return JSON.parse(value) as Record<string, unknown>;
    },
    send: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

export function tagged(tag: string): readonly number[] {
  return runningWith(TAG, tag).map(Number);
}

/**
 * Of these processes, those that have ended and that nobody has collected. The child of one that still runs is left out:
 * a shell whose `sleep` has just ended is about to do that itself.
 */
export function zombiesAmong(pids: readonly number[]): readonly number[] {
  const all = new Set(pids);
  return pids.filter((pid) => {
    const [state, parent] = statFields(pid);
    return state === "Z" && !(all.has(Number(parent)) && isRunning(Number(parent)));
  });
}

function isRunning(pid: number): boolean {
  return !["", "Z", "X"].includes(stateOf(pid));
}

export function zombiesBelow(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stateOf(pid) === "Z" && parentOf(pid) === parent);
}

/** Bytes of memory that belong to a process. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export function childrenOf(parent: number): readonly { readonly pid: number; readonly command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(Number(name)) === parent)
    .map((name) => ({ pid: Number(name), command: commandOf(Number(name)) }));
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function stateOf(pid: number): string {
  return statFields(pid)[0] ?? "";
}

function parentOf(pid: number): number {
  return Number(statFields(pid)[1] ?? 0);
}

function statFields(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
