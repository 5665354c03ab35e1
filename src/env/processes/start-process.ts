import { startOfProcess } from "../../store/process-owner.js";
import { ToolError } from "../../tool/errors.js";
import { compilePatterns, LineWatch } from "./line-watch.js";
import type { ProcessRows } from "./process-rows.js";
import { isPortOpen, waitUntilReady } from "./readiness.js";
import type { Tracked } from "./tracked-process.js";
import type { StartProcess } from "./types.js";

/** What has just been started must live this long to count as started. */
const ALIVE_CHECK_SECONDS = 0.2;

/** The patterns of a request, tried before anything is started. */
export function patternsOf({ notifyOnComplete, watchPatterns = [], ready }: StartProcess): {
  readonly watch: readonly RegExp[];
  readonly ready: readonly RegExp[];
  readonly note?: string;
} {
  const dropped = notifyOnComplete === true && watchPatterns.length > 0;
  return {
    watch: compilePatterns(dropped ? [] : watchPatterns, "watch_patterns"),
    ready: compilePatterns(ready?.pattern === undefined ? [] : [ready.pattern], "ready.pattern"),
    ...(dropped && { note: "watch_patterns are not used because notify_on_complete is set" }),
  };
}

/** Otherwise whoever listens there already would be taken for the new process. */
export async function requireFreePort(
  port: number,
  where: Pick<StartProcess, "environment" | "sandbox">,
): Promise<void> {
  if (!(await isPortOpen(port, where))) return;
  throw new ToolError(`Port ${port} is already in use, so nothing was started.`, {
    hint: `Something else listens there: end it, or use another port. To look: ss -ltnp 'sport = :${port}'.`,
  });
}

export function watchLines(
  tracked: Tracked,
  patterns: readonly RegExp[],
  watcher: { matched(line: string): void; readonly off: boolean },
): void {
  const watch = new LineWatch({
    patterns,
    onMatch: (line) => {
      watcher.matched(line);
      if (watcher.off) stop();
    },
  });
  const stop = tracked.listen((bytes) => watch.push(bytes));
}

/** Starts it and writes it down; what cannot be written down is ended again. */
export async function launch(start: {
  readonly tracked: Tracked;
  readonly request: StartProcess;
  readonly rows: ProcessRows;
  readonly owner: string;
}): Promise<void> {
  const { tracked, request, rows, owner } = start;
  const { command, cwd, env, workspace, sandbox, pty, environment } = request;
  const running = await environment.spawn({
    command,
    cwd,
    env,
    workspace,
    sandbox,
    pty,
    onOutput: (bytes) => tracked.take(bytes),
  });
  tracked.follow(running);
  const { info } = tracked;
  const { pid } = running;
  try {
    rows.add({
      ...info,
      kind: environment.kind,
      pidStart: environment.kind === "local" && pid !== undefined ? startOfProcess(pid) : undefined,
      mark: running.mark,
      owner,
      status: "running",
      exitCode: undefined,
      lost: undefined,
      endedAt: undefined,
    });
  } catch (error) {
    // What is not written down could not be found after a crash.
    await tracked.kill();
    throw new ToolError("The process could not be recorded and was ended again.", {
      code: "internal",
      cause: error,
      hint: "Look whether the disk is full: hermes doctor.",
    });
  }
}

/** Waits until it is ready, or has at least lived for a moment. */
export async function awaitStart(start: {
  readonly tracked: Tracked;
  readonly request: StartProcess;
  readonly matched: Promise<string> | undefined;
}): Promise<void> {
  const { tracked, request, matched } = start;
  const { signal, environment, sandbox, ready } = request;
  let onAbort = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = () => resolve();
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) resolve();
  });
  const ended = Promise.race([tracked.ended, aborted]);
  if (ready === undefined)
    await waitUntilReady({ aliveSeconds: ALIVE_CHECK_SECONDS }, { environment, ended });
  else {
    tracked.ready = await waitUntilReady(ready, { environment, sandbox, ended, matched });
  }
  signal?.removeEventListener("abort", onAbort);
  if (signal?.aborted !== true) return;
  await tracked.kill();
  throw new ToolError("Cancelled; the process and everything it started was ended.", { code: "cancelled" });
}
