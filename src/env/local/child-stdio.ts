import type { ChildProcess, StdioOptions } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { REPORT_DESCRIPTOR } from "./command-line.js";
import type { ExecRequest } from "../environment.js";
import { OutputWindow, type WindowContent } from "../output-window.js";
import { closePair, type PipePair, type PipeStock } from "./pipes.js";

const MAX_REPORT_CHUNKS = 16;

export interface Collected {
  readonly output: WindowContent;
  readonly stderr: WindowContent;
  /** What came on the report descriptor. */
  readonly report: string;
}

export interface StdioParts {
  readonly pipes: PipeStock;
  /** Give the child a descriptor to report on. */
  readonly report: boolean;
  /** A descriptor for the child, the next after the report; it is closed here once the child has it. */
  readonly filter?: number | undefined;
}

/** The streams of one child: made before it starts, connected after, read until it ends. */
export interface ChildStdio {
  readonly stdio: StdioOptions;
  /** Takes over the ends that stay here. Resolves when every stream has ended. */
  connect(child: ChildProcess): Promise<unknown>;
  /** Gives back everything when the child could not be started. */
  abandon(): void;
  finish(): Collected;
}

export async function openChildStdio(request: ExecRequest, parts: StdioParts): Promise<ChildStdio> {
  const { pipes: stock, filter } = parts;
  const input = request.stdin === undefined ? undefined : await stock.inputFrom(request.stdin);
  const outPair = await stock.take();
  const errPair = request.separateStderr ? await stock.take() : outPair;
  const pairs = [...new Set([outPair, errPair])].filter((pair) => pair !== undefined);
  const output = new OutputWindow(request.maxOutputChars);
  const stderr = request.separateStderr ? new OutputWindow(request.maxOutputChars) : output;
  const report: Buffer[] = [];
  const open: Readable[] = [];
  const announce = announcer(request);

  function follow(stream: Readable | null | undefined, take: (bytes: Buffer) => void): Promise<void> {
    if (!stream) return Promise.resolve();
    open.push(stream);
    stream.on("data", take);
    stream.on("error", () => {});
    return new Promise((resolve) => stream.once("close", resolve));
  }

  return {
    stdio: [
      request.stdin === undefined ? "ignore" : (input ?? "pipe"),
      outPair?.writeEnd ?? "pipe",
      errPair?.writeEnd ?? "pipe",
      ...(parts.report ? (["pipe"] as const) : []),
      ...(filter === undefined ? [] : [filter]),
    ],
    connect(child) {
      for (const pair of pairs) closeSync(pair.writeEnd);
      if (filter !== undefined) closeSync(filter);
      if (input !== undefined) closeSync(input);
      else if (request.stdin !== undefined) feed(child.stdin, request.stdin);
      const ended = [
        follow(outPair ? reader(outPair) : child.stdout, (bytes) => announce(output.push(bytes))),
      ];
      if (errPair === undefined || errPair !== outPair) {
        ended.push(follow(errPair ? reader(errPair) : child.stderr, (bytes) => announce(stderr.push(bytes))));
      }
      ended.push(
        follow(parts.report ? (child.stdio[REPORT_DESCRIPTOR] as Readable | null) : null, (bytes) => {
          if (report.length < MAX_REPORT_CHUNKS) report.push(bytes);
        }),
      );
      return Promise.all(ended);
    },
    abandon() {
      for (const pair of pairs) closePair(pair);
      for (const descriptor of [input, filter]) if (descriptor !== undefined) closeSync(descriptor);
    },
    finish() {
      for (const stream of open) letGo(stream);
      const merged = output.finish();
      return {
        output: merged,
        stderr: stderr === output ? new OutputWindow().finish() : stderr.finish(),
        report: Buffer.concat(report).toString("utf8"),
      };
    },
  };
}

/** A listener that throws is not called again; it must not end the command or this process. */
function announcer(request: ExecRequest): (chunk: string) => void {
  let listening = request.onChunk !== undefined;
  return (chunk) => {
    if (!listening || chunk === "") return;
    try {
      request.onChunk?.(chunk);
    } catch {
      listening = false;
    }
  };
}

function reader(pair: PipePair): Readable {
  return new Socket({ fd: pair.readEnd, readable: true, writable: false });
}

function feed(stream: Writable | null, data: string | Uint8Array): void {
  // A program may end without reading all of its input.
  stream?.on("error", () => {});
  stream?.end(data);
}

/**
 * A daemon may still hold the other end. Closing ours would kill it at its next line of output, so it is
 * read into the void without keeping this process alive.
 */
function letGo(stream: Readable): void {
  if (stream.closed) return;
  stream.removeAllListeners("data");
  stream.resume();
  (stream as Readable & { unref?: () => void }).unref?.();
}
