import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Duplex, Readable, Writable } from "node:stream";
import { errnoOf } from "../../base/errno.js";
import { namesIn } from "../names-in.js";
import type { Child, ChildExit, ChildStart, StartFailure } from "./child.js";
import { withGroupsJoined } from "./child.js";
import { REPORT_DESCRIPTOR } from "./command-line.js";
import { type OutputReader, readPipe, readStream, together } from "./output-reader.js";
import { closePair, inputFile, type PipePair, type PipeStock } from "./pipes.js";
import { endWithThisProcess } from "./process-tree.js";

const MAX_REPORT_BYTES = 262_144;

/** Starts a program from this very process, where no launcher works: other systems, no Perl, no /proc. */
export async function startWithNode(
  start: ChildStart,
  host: { readonly pipes: PipeStock; readonly folder: string },
): Promise<Child | StartFailure> {
  const { input } = start;
  const file = typeof input === "string" ? undefined : await inputFile(host.folder, input.bytes);
  const inPair = input === "open" ? await host.pipes.take() : undefined;
  const outPair = await host.pipes.take();
  const errPair = start.onStderr === undefined ? outPair : await host.pipes.take();
  const pairs = [...new Set([inPair, outPair, errPair])].filter((pair) => pair !== undefined);
  const stdio: StdioOptions = [
    input === "nothing" ? "ignore" : (file ?? inPair?.readEnd ?? "pipe"),
    outPair?.writeEnd ?? "pipe",
    errPair?.writeEnd ?? "pipe",
    ...(start.report ? (["pipe"] as const) : []),
    ...(start.filter === undefined ? [] : [start.filter]),
  ];
  const [program = "", ...args] = withGroupsJoined(start.argv, start.joinFiles ?? []);
  const nothing = openSync("/dev/null", "r+");
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: start.cwd,
      env: start.env,
      detached: true,
      stdio: withoutInherited(stdio, nothing),
    });
  } catch (error) {
    for (const pair of pairs) closePair(pair);
    // EAGAIN, EMFILE, E2BIG and the like arrive synchronously.
    return { stage: "resources", code: errnoOf(error) ?? "EIO" };
  } finally {
    for (const descriptor of [file, start.filter, nothing])
      if (descriptor !== undefined) closeSync(descriptor);
  }
  for (const pair of new Set([outPair, errPair])) if (pair !== undefined) closeSync(pair.writeEnd);
  if (inPair !== undefined) closeSync(inPair.readEnd);
  return follow(child, start, { inPair, outPair, errPair });
}

const CLOSE_ON_EXEC = 0o2000000;
/** Numbers beyond this one are nobody's habit, and every one before it costs a descriptor. */
const MOST_DESCRIPTORS = 1_024;
type StdioEntry = Extract<StdioOptions, readonly unknown[]>[number];

/** What this process was started with and would hand on: descriptors of its own are closed by the kernel. */
function inheritedDescriptors(from: number): readonly number[] {
  return namesIn("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor >= from && !isClosedOnExec(descriptor));
}

function isClosedOnExec(descriptor: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    // The folder that was listed, which is closed again.
    return true;
  }
}

/**
 * Nothing closes a descriptor on the way to a child, but another file can be put in its place: one that holds
 * nothing. Only there: to ignore a descriptor from the fourth on is to hand it on.
 */
function withoutInherited(stdio: readonly StdioEntry[], nothing: number): StdioEntry[] {
  const inherited = inheritedDescriptors(stdio.length).filter((descriptor) => descriptor <= MOST_DESCRIPTORS);
  const covered: StdioEntry[] = [...stdio];
  for (let descriptor = stdio.length; descriptor <= Math.max(0, ...inherited); descriptor += 1)
    covered.push(inherited.includes(descriptor) ? nothing : "ignore");
  return covered;
}

interface Pairs {
  readonly inPair: PipePair | undefined;
  readonly outPair: PipePair | undefined;
  readonly errPair: PipePair | undefined;
}

function follow(child: ChildProcess, start: ChildStart, pairs: Pairs): Promise<Child | StartFailure> {
  const { inPair, outPair, errPair } = pairs;
  const readers: OutputReader[] = [];
  const read = (pair: PipePair | undefined, stream: Readable | null, take: (bytes: Buffer) => void) => {
    if (pair !== undefined) readers.push(readPipe(pair.readEnd, take));
    else if (stream !== null) readers.push(readStream(stream, take));
  };
  const onOutput = start.onOutput.bind(start);
  read(outPair, child.stdout, onOutput);
  if (errPair === undefined || errPair !== outPair) {
    read(errPair, child.stderr, start.onStderr?.bind(start) ?? onOutput);
  }
  const secret = randomUUID();
  const report: Buffer[] = [];
  let reportBytes = 0;
  if (start.report) {
    const channel = child.stdio[REPORT_DESCRIPTOR] as Duplex | null;
    channel?.on("error", () => {});
    channel?.write(`${secret}\n`);
    read(undefined, channel, (bytes) => {
      reportBytes += bytes.length;
      if (reportBytes <= MAX_REPORT_BYTES) report.push(bytes);
    });
  }
  const input = inPair === undefined ? child.stdin : writer(inPair);
  input?.on("error", () => {});
  if (typeof start.input === "object") input?.end(start.input.bytes);
  const unwatch = child.pid === undefined ? undefined : endWithThisProcess(child.pid);
  const exited = new Promise<ChildExit>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ kind: "failed", stage: "program", code: error.code ?? "EIO" }),
    );
    child.once("exit", (code, signal) => {
      unwatch?.();
      const status = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      const end = () =>
        resolve({
          kind: "exited",
          code: status,
          report: { text: Buffer.concat(report).toString("utf8"), secret },
        });
      // The report was written before the end, but may not have been read: that happens within one turn.
      setImmediate(() => setImmediate(end));
    });
  });
  if (child.pid === undefined) {
    return exited.then((exit) =>
      exit.kind === "failed" ? exit : { stage: "resources" as const, code: "EIO" },
    );
  }
  const output = together(readers);
  return Promise.resolve({
    pid: child.pid,
    mark: start.mark,
    exited,
    outputEnded: output.ended,
    input: start.input === "open" ? (input ?? undefined) : undefined,
    pauseOutput: output.pause,
    letGo: output.letGo,
  });
}

function writer(pair: PipePair): Writable {
  return new Socket({ fd: pair.writeEnd, readable: false, writable: true });
}
