import { join } from "node:path/posix";
import type { EnvironmentFiles, FileChange, WatchOptions } from "../../env/environment.js";
import { eventually, holds, refused, same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

export const watchCases: readonly ConformanceCase[] = [
  conformanceCase("changes by commands are told: created, changed, removed", async (context) => {
    const task = await context.task();
    await task.run("echo 1 > here");
    const watch = watching(task.environment.files, task.folder);
    await awake(watch, task);
    for (const [command, name, change] of [
      ["echo 1 > new", "new", "created"],
      ["echo 2222 > here", "here", "changed"],
      ["rm here", "here", "removed"],
    ] as const) {
      await task.run(command);
      await eventually(`${command} is told as ${change}`, () =>
        watch.seen.some((each) => each.path === join(task.folder, name) && each.change === change),
      );
    }
    await watch.stop();
  }),

  conformanceCase("a recursive watch sees new folders, a plain one does not look below", async (context) => {
    const task = await context.task();
    await task.run("mkdir -p below");
    const plain = watching(task.environment.files, task.folder);
    const all = watching(task.environment.files, task.folder, { recursive: true });
    await awake(plain, task);
    await awake(all, task);
    await task.run("mkdir -p below/made");
    await eventually("the folder below is told", () =>
      all.seen.some(({ path }) => path === join(task.folder, "below/made")),
    );
    await eventually("a file in a folder made meanwhile is told", async () => {
      await task.run("echo $RANDOM > below/made/file");
      return all.seen.some(({ path }) => path === join(task.folder, "below/made/file"));
    });
    holds(
      plain.seen.every(({ path }) => !path.startsWith(join(task.folder, "below/"))),
      "the plain one tells nothing of below",
      plain.seen,
    );
    await Promise.all([plain.stop(), all.stop()]);
  }),

  conformanceCase("one file is watched, also when it is replaced", async (context) => {
    const task = await context.task();
    const path = join(task.folder, "one");
    await task.run("echo 1 > one; echo 1 > other");
    const watch = watching(task.environment.files, path);
    let round = 0;
    await eventually("a write is told", async () => {
      round += 1;
      await task.run(`echo ${"x".repeat(round)} > one; echo x > other`);
      return watch.seen.some((each) => each.path === path);
    });
    const before = watch.seen.length;
    await eventually("a replacement is told", async () => {
      await task.environment.files.write(path, Buffer.from("y".repeat(++round)));
      return watch.seen.length > before;
    });
    same(
      watch.seen.filter((each) => each.path !== path),
      [],
      "what is told of other files",
    );
    await watch.stop();
  }),

  conformanceCase("a watch ends with its signal, and what is missing cannot be watched", async (context) => {
    const environment = await context.environment();
    const folder = await context.scratch();
    const watch = watching(environment.files, folder);
    await watch.stop();
    const aborted = watching(environment.files, folder);
    await aborted.stop();
    const missing = environment.files.watch(join(folder, "missing"), { signal: AbortSignal.timeout(10_000) });
    await refused(missing[Symbol.asyncIterator]().next(), { what: "a watch of a missing folder" });
  }),
];

interface Watching {
  readonly seen: FileChange[];
  /** Ends it and throws what it threw. */
  stop(): Promise<void>;
}

function watching(
  files: EnvironmentFiles,
  path: string,
  options: Omit<WatchOptions, "signal"> = {},
): Watching {
  const seen: FileChange[] = [];
  const end = new AbortController();
  const over = (async () => {
    for await (const change of files.watch(path, { ...options, signal: end.signal })) seen.push(change);
  })();
  // Looked at when it is stopped.
  over.catch(() => {});
  return {
    seen,
    async stop() {
      end.abort();
      await within(5_000, "the end of the watch", over);
    },
  };
}

/** A watch needs a moment to begin; what happens before it has begun is not told. */
async function awake(
  watch: Watching,
  task: { readonly folder: string; run(command: string): Promise<unknown> },
): Promise<void> {
  let round = 0;
  await eventually(
    "the watch begins",
    async () => {
      round += 1;
      await task.run(`echo ${round} > wake-${round}`);
      return watch.seen.length > 0;
    },
    30_000,
  );
}
