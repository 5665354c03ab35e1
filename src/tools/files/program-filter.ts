import type { Widening } from "../../env/sandbox/types.js";
import type { CallContext } from "../../tool/tool.js";

/** Output that waits to be taken; beyond it the program has to wait. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export interface ProgramFilter {
  /** Program and arguments; what it says on its error output is dropped. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly cwd: string;
  readonly ctx: CallContext;
  /** What it must see besides the workspace: places that the call was allowed to read. */
  readonly sandbox?: Widening | undefined;
  /** Made into the error when it ends with another code than 0. */
  failure(exitCode: number): Error;
}

/** Sends bytes through a program of the environment. It is ended when nobody wants the rest. */
export async function* throughProgram(filter: ProgramFilter): AsyncGenerator<Uint8Array> {
  const { ctx } = filter;
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let paused = false;
  let over = false;
  let wake = () => {};
  const process = await ctx.environment.spawn({
    // Output of both kinds arrives in one stream, and only one kind is wanted.
    command: ["sh", "-c", 'exec "$@" 2>/dev/null', "sh", ...filter.command],
    cwd: filter.cwd,
    env: filter.env,
    sandbox: filter.sandbox,
    onOutput(bytes) {
      waiting.push(Uint8Array.from(bytes));
      waitingBytes += bytes.length;
      if (!paused && waitingBytes > MAX_WAITING_BYTES) {
        paused = true;
        process.pauseOutput(true);
      }
      wake();
    },
  });
  let problem: unknown;
  const fed = feed(process, filter.input).catch((error: unknown) => {
    problem ??= error;
    wake();
  });
  const ended = process.ended.then((end) => {
    over = true;
    wake();
    return end;
  });
  const stop = () => wake();
  ctx.signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      ctx.signal.throwIfAborted();
      const next = waiting.shift();
      if (next !== undefined) {
        waitingBytes -= next.length;
        if (paused && waitingBytes < MAX_WAITING_BYTES / 2) {
          paused = false;
          process.pauseOutput(false);
        }
        yield next;
      } else if (over) break;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    const { exitCode } = await ended;
    await fed;
    if (exitCode !== 0) throw filter.failure(exitCode);
    if (problem !== undefined) throw problem;
  } finally {
    ctx.signal.removeEventListener("abort", stop);
    if (!over) {
      process.pauseOutput(false);
      await process.end().catch(() => []);
    }
  }
}

async function feed(
  process: { write(data: Uint8Array): Promise<void>; closeInput(): Promise<void> },
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  for await (const piece of input) await process.write(piece);
  await process.closeInput();
}
