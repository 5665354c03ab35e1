import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../environment.js";
import type { Widening } from "../sandbox/types.js";
import type { Readiness, ReadyReport } from "./types.js";

const DEFAULT_TIMEOUT_MS = 30_000;
const PROBE_MS = 2_000;
const REMOTE_PROBE_MS = 10_000;
const LONGEST_PAUSE_MS = 500;

/** What is looked at while a process comes up. */
export interface ReadinessSubject {
  readonly environment: Environment;
  /** What it was started with, where that decides which network it has. */
  readonly sandbox?: Widening | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
  /** Resolves with the first line that matches; left out when no pattern was asked for. */
  readonly matched?: Promise<string> | undefined;
}

/** Waits until everything that was asked for has come true, it has ended, or the time is over. */
export async function waitUntilReady(readiness: Readiness, subject: ReadinessSubject): Promise<ReadyReport> {
  const alive = readiness.aliveSeconds;
  const limitMs =
    readiness.timeoutSeconds === undefined
      ? Math.max(DEFAULT_TIMEOUT_MS, (alive ?? 0) * 1000 + 1_000)
      : readiness.timeoutSeconds * 1000;
  const stop = new AbortController();
  const checks = checksOf(readiness, subject, stop.signal);
  const met: string[] = [];
  const all = Promise.all(checks.map(async (check) => void met.push(await check.met)));
  const first = await Promise.race([
    subject.ended.then(() => "ended" as const),
    all.then(() => "ready" as const),
    delay(limitMs, "late" as const, { signal: stop.signal }).catch(() => "late" as const),
  ]);
  stop.abort();
  if (first === "ready") return { ready: true, why: met.join("; ") };
  if (first === "ended") return { ready: false, why: "it ended before it was ready" };
  const missing = checks.filter((check) => !met.includes(check.name)).map((check) => check.name);
  return { ready: false, why: `not within ${limitMs / 1000} s: ${missing.join("; ")}` };
}

interface Check {
  readonly name: string;
  /** Resolves with the name once it is true; never when it does not become so. */
  readonly met: Promise<string>;
}

function checksOf(readiness: Readiness, subject: ReadinessSubject, signal: AbortSignal): readonly Check[] {
  const { port, pattern, aliveSeconds } = readiness;
  const checks: Check[] = [];
  const add = (name: string, done: Promise<unknown>) =>
    void checks.push({ name, met: done.then(() => name) });
  if (port !== undefined) {
    add(`port ${port} accepts connections`, untilPortOpen({ port, subject, signal }));
  }
  if (pattern !== undefined && subject.matched !== undefined) {
    add(`a line matches ${JSON.stringify(pattern)}`, subject.matched);
  }
  if (aliveSeconds !== undefined) {
    add(`alive after ${aliveSeconds} s`, delay(aliveSeconds * 1000, undefined, { signal }).catch(forever));
  }
  return checks;
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}

async function untilPortOpen(wait: {
  readonly port: number;
  readonly subject: Pick<ReadinessSubject, "environment" | "sandbox">;
  readonly signal: AbortSignal;
}): Promise<void> {
  for (let pause = 25; !wait.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    // An environment that cannot be asked now may answer the next time.
    if (await isPortOpen(wait.port, wait.subject).catch(() => false)) return;
    await delay(pause, undefined, { signal: wait.signal }).catch(() => undefined);
  }
  await forever();
}

/** Whether something listens on the loopback address that a program there would have. */
export async function isPortOpen(
  port: number,
  subject: Pick<ReadinessSubject, "environment" | "sandbox">,
): Promise<boolean> {
  const { kind, ownNetwork } = subject.environment;
  if (kind !== "local" || ownNetwork === true) return isListedAsOpen(port, subject);
  const [four, six] = await Promise.all([accepts("127.0.0.1", port), accepts("::1", port)]);
  return four || six;
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(PROBE_MS, () => settle(false));
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}

const LISTENING = "0A";

/** Elsewhere, and in a network of its own, the kernel's list is read: it needs no program but `cat`. */
async function isListedAsOpen(
  port: number,
  { environment, sandbox = {} }: Pick<ReadinessSubject, "environment" | "sandbox">,
): Promise<boolean> {
  const { network, off } = sandbox;
  const command = ["cat", "/proc/net/tcp", "/proc/net/tcp6"];
  const request = { command, cwd: "/", timeoutMs: REMOTE_PROBE_MS, separateStderr: true };
  const { signal } = new AbortController();
  const { output } = await environment.exec({ ...request, signal, sandbox: { network, off } });
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return output.split("\n").some((line) => {
    const [, local = "", , state = ""] = line.trim().split(/\s+/);
    return state === LISTENING && local.endsWith(wanted);
  });
}
