import { ToolError } from "../../tool/errors.js";
import type { Transport, TransportProcess } from "./transport.js";

export interface Collected {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface CollectRequest {
  readonly transport: Transport;
  readonly argv: readonly string[];
  readonly stdin?: Uint8Array;
  /** Waits no longer than this. */
  readonly limitMs: number;
  readonly maxBytes?: number;
  /** Waits no longer than until this resolves. */
  readonly letGo?: Promise<unknown>;
  onStdout?(bytes: Uint8Array): void;
}

/** How a helper program of this layer ended. */
export type CollectEnd = Collected | { readonly lost: string };

const MAX_STDERR_BYTES = 16_384;

/** Runs a small program there to its end. A lost connection and a silent one are answers, not errors. */
export async function collect(request: CollectRequest): Promise<CollectEnd> {
  const stdout: Uint8Array[] = [];
  const stderr: Uint8Array[] = [];
  let received = 0;
  let errorBytes = 0;
  let started: TransportProcess | undefined;
  let tooMuch = false;
  const limit = request.maxBytes ?? Number.POSITIVE_INFINITY;
  const starting = request.transport.start({
    argv: request.argv,
    ...(request.stdin !== undefined && { stdin: request.stdin }),
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
    const process = await Promise.race([starting, silent.passed]);
    if (process === undefined) {
      starting.then((late) => late.abandon()).catch(() => {});
      return { lost: `it did not answer within ${Math.round(request.limitMs / 1000)} s` };
    }
    started = process;
    if (tooMuch) process.abandon();
    const end = await Promise.race([
      process.ended,
      silent.passed,
      request.letGo?.then(() => undefined) ?? silent.passed,
    ]);
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

function silence(limitMs: number): { passed: Promise<undefined>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  return { passed, clear: () => clearTimeout(timer) };
}

/** True for a failed connection as transports report it. */
export function isUnavailable(error: unknown): boolean {
  return ToolError.isInstance(error) && error.code === "unavailable";
}
