import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { Child, ChildStart, StartFailure } from "../child.js";
import { readPipe, together } from "../output-reader.js";
import { inputFile } from "../pipes.js";
import type { GivenDescriptor, Launcher } from "./launcher.js";

/** Starts a program from the launcher and connects its streams to this process. */
export async function startFromLauncher(
  start: ChildStart,
  host: { readonly launcher: Launcher; readonly folder: string },
): Promise<Child | StartFailure> {
  const { input, filter, onStderr } = start;
  const file = typeof input === "string" ? undefined : await inputFile(host.folder, input.bytes);
  const descriptors: readonly GivenDescriptor[] = [
    input === "nothing" ? "nothing" : file === undefined ? "input" : { ours: file },
    input === "open" ? "output" : "flood",
    onStderr === undefined ? "same" : "output",
    ...(start.report ? (["report"] as const) : []),
    ...(filter === undefined ? [] : [{ ours: filter }]),
  ];
  try {
    const { argv, cwd, env, joinFiles = [] } = start;
    const launched = await host.launcher.launch({ argv, cwd, env, descriptors, joinFiles });
    if ("stage" in launched) return launched;
    const ends = [...launched.ends];
    const writable = descriptors[0] === "input" ? writePipe(ends.shift()) : undefined;
    if (typeof input === "object") writable?.end(input.bytes);
    const readers = [start.onOutput, onStderr].flatMap((take) => {
      const end = take === undefined ? undefined : ends.shift();
      return take === undefined || end === undefined ? [] : [readPipe(end, take.bind(start))];
    });
    const output = together(readers);
    return {
      pid: launched.pid,
      mark: start.mark,
      exited: launched.exited,
      outputEnded: output.ended,
      input: input === "open" ? writable : undefined,
      pauseOutput: output.pause,
      letGo: output.letGo,
    };
  } finally {
    for (const descriptor of [file, filter]) if (descriptor !== undefined) closeSync(descriptor);
  }
}

function writePipe(descriptor: number | undefined): Writable | undefined {
  if (descriptor === undefined) return undefined;
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  // A program may end without reading all of its input.
  socket.on("error", () => {});
  return socket;
}
