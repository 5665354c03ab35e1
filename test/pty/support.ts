import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RunningProcess, TerminalSize } from "../../src/env/environment.js";
import { spawnInPty } from "../../src/env/pty/local-pty.js";
import { Screen } from "../../src/env/pty/screen.js";

const SIZE: TerminalSize = { columns: 80, rows: 24 };

export interface Started {
  readonly process: RunningProcess;
  readonly screen: Screen;
  output(): string;
  bytes(): Buffer;
}

const started = new Set<RunningProcess>();

export async function inTerminal(
  argv: readonly string[] | string,
  options: {
    readonly size?: TerminalSize;
    readonly env?: Record<string, string>;
    readonly cwd?: string;
  } = {},
): Promise<Started> {
  const chunks: Uint8Array[] = [];
  const screen = new Screen(options.size ?? SIZE);
  const process_ = await spawnInPty({
    argv: typeof argv === "string" ? ["bash", "--noprofile", "--norc", "-c", argv] : argv,
    cwd: options.cwd ?? "/",
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/nonexistent", LANG: "C.UTF-8", ...options.env },
    size: options.size ?? SIZE,
    mark: randomUUID(),
    onOutput(bytes) {
      chunks.push(bytes);
      screen.feed(bytes);
    },
  });
  started.add(process_);
  void process_.ended.then(() => started.delete(process_));
  const bytes = () => Buffer.concat(chunks);
  return { process: process_, screen, bytes, output: () => bytes().toString("utf8") };
}

export async function endAll(): Promise<void> {
  await Promise.all([...started].map((one) => one.end()));
}

/** Waits until something is so; fails with what it saw last. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  fits: (value: T) => boolean,
  withinMs = 10_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await look();
    if (fits(value)) return value;
    if (Date.now() > deadline)
      throw new Error(`not so within ${withinMs} ms; last: ${JSON.stringify(value)}`);
    await delay(20);
  }
}
