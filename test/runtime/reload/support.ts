import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { RuntimeOptions } from "../../../src/index.js";
import type { RuntimeEvent } from "../../../src/observe/events.js";
import {
  type ReloadWatch,
  type WatchOptions,
  watchForChanges,
} from "../../../src/runtime/reload/watch-for-changes.js";
import { onTestEnd, type TestRuntime, tempDir, testRuntime } from "../../support/runtime.js";

export interface WatchedRuntime extends TestRuntime {
  readonly watch: ReloadWatch;
  readonly events: readonly RuntimeEvent[];
  /** Writes below the home. */
  write(path: string, text: string): void;
  /** As editors do: a new file is renamed over the old one. */
  replace(path: string, text: string): void;
}

/** A runtime that loads tools from its home and takes up what changes there. */
export async function watchedRuntime(
  files: Readonly<Record<string, string>> = {},
  options: Partial<RuntimeOptions> & {
    readonly pollMs?: number;
    readonly debounceMs?: number;
    readonly hold?: WatchOptions["hold"];
  } = {},
): Promise<WatchedRuntime> {
  const { pollMs = 600_000, debounceMs = 15, hold, ...runtimeOptions } = options;
  const home = options.home ?? tempDir();
  const write = (path: string, text: string) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const made = await testRuntime([], { userTools: true, ...runtimeOptions, home });
  const events: RuntimeEvent[] = [];
  onTestEnd(made.runtime.events.on((event) => void events.push(event)));
  const watch = await watchForChanges(made.runtime, { pollMs, debounceMs, hold });
  return {
    ...made,
    watch,
    events,
    write,
    replace(path, text) {
      write(`${path}.part~`, text);
      renameSync(join(home, `${path}.part~`), join(home, path));
    },
  };
}

export function applied({ events }: Pick<WatchedRuntime, "events">) {
  return events.flatMap((event) => (event.type === "reload.applied" ? event : []));
}

export function failed({ events }: Pick<WatchedRuntime, "events">) {
  return events.flatMap((event) => (event.type === "reload.failed" ? event : []));
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await pause(5);
  }
}

/** A module with one tool that answers with its version. */
export function toolModule(name: string, version: string | number, imports = ""): string {
  return `import { registry } from "hermes-tools";
${imports}
registry.register({
  name: ${JSON.stringify(name)},
  toolset: "reloaded",
  schema: { description: "version ${version}" },
  handler: async () => ${JSON.stringify(String(version))},
});
`;
}
