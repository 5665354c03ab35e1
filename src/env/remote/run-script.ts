import { unlessAborted } from "../../base/deadline.js";
import type { Connection } from "./connection.js";
import { errorFromThere, lostWhileWorking } from "./remote-error.js";
import { PRELUDE } from "./scripts.gen.js";
import type { Transport, TransportEnd, TransportProcess } from "./transport.js";

export interface Collected {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface CollectRequest {
  readonly transport: Transport;
  readonly argv: readonly string[];
  readonly stdin?: Uint8Array | undefined;
  /** Waits no longer than this. */
  readonly limitMs: number;
  readonly maxBytes?: number | undefined;
  /** Waits no longer than until this resolves. */
  readonly letGo?: Promise<unknown> | undefined;
  /** Lets go of it at once and rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  onStdout?(bytes: Uint8Array): void;
}

/** How a helper program of this layer ended. */
export type CollectEnd = Collected | { readonly lost: string };

const MAX_STDERR_BYTES = 16_384;

/** Runs a small program there to its end. A lost connection and a silent one are answers, not errors. */
export async function collect(request: CollectRequest): Promise<CollectEnd> {
  const { signal } = request;
  signal?.throwIfAborted();
  const stdout: Uint8Array[] = [];
  const stderr: Uint8Array[] = [];
  let received = 0;
  let errorBytes = 0;
  let started: TransportProcess | undefined;
  let tooMuch = false;
  const limit = request.maxBytes ?? Number.POSITIVE_INFINITY;
  const starting = request.transport.start({
    argv: request.argv,
    stdin: request.stdin,
    onStdout: (bytes) => {
      received += bytes.byteLength;
      if (received > limit) {
        tooMuch = true;
        started?.abandon();
        return;
      }
      if (request.onStdout === undefined) stdout.push(bytes);
      else request.onStdout(bytes);
    },
    onStderr: (bytes) => {
      if (errorBytes > MAX_STDERR_BYTES) return;
      errorBytes += bytes.byteLength;
      stderr.push(bytes);
    },
  });
  const silent = silence(request.limitMs);
  try {
    const process = await Promise.race([startedOrAborted(starting, signal), silent.passed]);
    if (process === undefined) {
      starting.then((late) => late.abandon()).catch(() => {});
      return { lost: `it did not answer within ${Math.round(request.limitMs / 1000)} s` };
    }
    started = process;
    if (tooMuch) process.abandon();
    const ending = [process.ended, silent.passed, request.letGo?.then(() => undefined) ?? silent.passed];
    const end = await orAborted(Promise.race(ending), signal).catch((error) => {
      process.abandon();
      throw error;
    });
    if (tooMuch) throw Object.assign(new Error("too much data"), { code: "ERR_FS_FILE_TOO_LARGE" });
    if (end === undefined) {
      process.abandon();
      return { lost: `it did not answer within ${Math.round(request.limitMs / 1000)} s` };
    }
    if ("lost" in end) return end;
    return {
      exitCode: end.exitCode,
      stdout: Buffer.concat(stdout),
      stderr: Buffer.concat(stderr).toString(),
    };
  } finally {
    silent.clear();
  }
}

/** What has not even started when the signal comes is let go as soon as it has. */
function startedOrAborted(
  starting: Promise<TransportProcess>,
  signal: AbortSignal | undefined,
): Promise<TransportProcess> {
  return orAborted(starting, signal).catch((error: unknown) => {
    starting.then((late) => late.abandon()).catch(() => {});
    throw error;
  });
}

export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? work : unlessAborted(work, signal);
}

function silence(limitMs: number): { passed: Promise<undefined>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  return { passed, clear: () => clearTimeout(timer) };
}

const LIMIT_MS = 120_000;

interface FileScript {
  readonly connection: Connection;
  /** Of the folder scripts, without the prelude. */
  readonly script: string;
  readonly args: readonly string[];
  /** For errors: what was being done, to what. */
  readonly path: string;
  readonly action: string;
  readonly signal?: AbortSignal | undefined;
}

function fileScript({ script, args }: Pick<FileScript, "script" | "args">): readonly string[] {
  return ["sh", "-c", PRELUDE + script, "sh", ...args];
}

export interface ScriptRun extends FileScript {
  readonly stdin?: Uint8Array | undefined;
  readonly expected?: string | undefined;
  readonly limitMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** Runs a file script there; what it says went wrong becomes an error. */
export async function runScript(run: ScriptRun): Promise<Collected> {
  const { connection } = run;
  const end = await collect({
    transport: connection.transport,
    argv: fileScript(run),
    stdin: run.stdin,
    limitMs: run.limitMs ?? LIMIT_MS,
    maxBytes: run.maxBytes,
    signal: run.signal,
  });
  requireSuccess(end, { ...run, stderr: "stderr" in end ? end.stderr : "" });
  return end;
}

function requireSuccess<End extends TransportEnd>(
  end: End,
  failed: FileScript & { readonly stderr: string; readonly expected?: string | undefined },
): asserts end is Exclude<End, { readonly lost: string }> {
  const { connection } = failed;
  if ("lost" in end) {
    connection.noteLost(end.lost);
    throw lostWhileWorking(connection.name, end.lost);
  }
  if (end.exitCode !== 0) throw errorFromThere(failed);
}

/** Runs a file script there that takes a content of any length on stdin, sent as fast as it is taken. */
export async function sendToScript(
  request: FileScript & { readonly content: AsyncIterable<Uint8Array> },
): Promise<string> {
  const { connection, signal } = request;
  signal?.throwIfAborted();
  let stdout = "";
  let stderr = "";
  const starting = connection.transport.start({
    argv: fileScript(request),
    stdin: "open",
    onStdout: (bytes) => {
      stdout += Buffer.from(bytes).toString();
    },
    onStderr: (bytes) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += Buffer.from(bytes).toString();
    },
  });
  const process = await startedOrAborted(starting, signal);
  let over = false;
  const letGo = () => process.abandon();
  signal?.addEventListener("abort", letGo, { once: true });
  const ended = process.ended.then((end) => {
    over = true;
    signal?.removeEventListener("abort", letGo);
    signal?.throwIfAborted();
    return end;
  });
  ended.catch(() => {});
  try {
    for await (const chunk of request.content) {
      await Promise.race([process.write(chunk), ended]);
      if (over) break;
    }
  } catch (error) {
    // Without its end the archive or the file is not whole, and is refused there.
    process.abandon();
    throw error;
  }
  if (!over) await process.closeInput();
  const end = await ended;
  requireSuccess(end, { ...request, stderr });
  return stdout;
}

/** What may wait here before the other side is made to wait. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;

/** What a file script there prints, in order and as fast as it is taken. */
export async function* streamFromScript(request: FileScript): AsyncGenerator<Uint8Array> {
  const { connection, signal } = request;
  await orAborted(connection.ready(), signal);
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let paused = false;
  let stderr = "";
  let end: TransportEnd | undefined;
  let wake = () => {};
  let process: TransportProcess | undefined;
  const pause = (wanted: boolean) => {
    if (paused === wanted || process === undefined) return;
    paused = wanted;
    process.pauseOutput(wanted);
  };
  const starting = connection.transport.start({
    argv: fileScript(request),
    onStdout: (bytes) => {
      waiting.push(bytes);
      waitingBytes += bytes.byteLength;
      if (waitingBytes > MOST_WAITING_BYTES) pause(true);
      wake();
    },
    onStderr: (bytes) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += Buffer.from(bytes).toString();
    },
  });
  process = await startedOrAborted(starting, signal);
  void process.ended.then((how) => {
    end = how;
    wake();
  });
  try {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) {
        waitingBytes -= next.byteLength;
        if (waitingBytes <= MOST_WAITING_BYTES / 2) pause(false);
        yield next;
      } else if (end !== undefined) {
        break;
      } else {
        const more = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await orAborted(more, signal);
      }
    }
  } finally {
    if (end === undefined) process.abandon();
  }
  requireSuccess(end, { ...request, stderr });
}
