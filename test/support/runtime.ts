import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { createLogger, createRuntime, type RuntimeOptions, ToolRegistry } from "../../src/index.js";
import type { Runtime } from "../../src/runtime/runtime.js";
import type { AnyTool } from "../../src/tool/tool.js";

const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs at the end of the test, last added first. */
export function onTestEnd(cleanup: () => void | Promise<void>): void {
  cleanups.push(cleanup);
}

export function tempDir(prefix = "hermes-test-"): string {
  const dir = mkdtempSync(join(tmpdir(), prefix));
  // A program that was just ended may still have been writing there.
  onTestEnd(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

export interface TestRuntime {
  readonly runtime: Runtime;
  readonly registry: ToolRegistry;
  readonly home: string;
  readonly cwd: string;
  readonly logged: readonly string[];
}

export type OpenRuntime = typeof testRuntime;

/** A runtime with only the given tools, its own home and working folder, and no journal unless asked. */
export async function testRuntime(
  tools: readonly AnyTool[] = [],
  options: Partial<RuntimeOptions> = {},
): Promise<TestRuntime> {
  const home = options.home ?? tempDir();
  const cwd = options.cwd ?? tempDir();
  const logged: string[] = [];
  const registry = options.registry ?? new ToolRegistry();
  for (const tool of tools) registry.add(tool);
  const runtime = await createRuntime({
    builtins: false,
    userTools: false,
    journal: false,
    env: { PATH: process.env.PATH, HOME: home },
    systemDir: join(home, "no-system-config"),
    logger: createLogger({ level: "debug", sink: (line) => void logged.push(line) }),
    ...options,
    home,
    cwd,
    registry,
  });
  onTestEnd(() => runtime.close());
  return { runtime, registry, home, cwd, logged };
}
