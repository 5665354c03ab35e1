import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

export interface ModelChild {
  readonly process: ChildProcess;
  /** The last thing it complained about. */
  complaint(): string;
}

/**
 * Starts a process that runs a model: native code that fails must not take the runtime with it, and a thread that is
 * ended in the middle of native work does exactly that. It keeps nobody alive, and ends with this process.
 */
export function startModelChild(program: string, places: object): ModelChild {
  const path = locateProgram(program);
  const child = fork(path, [JSON.stringify(places)], {
    // The folder the user works in may go away, and nobody should be kept from removing it.
    cwd: dirname(path),
    // Neither the variables nor the options of this process are any of its business; Windows starts nothing
    // without this one.
    env: process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot },
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-2_000);
  });
  (child.stderr as unknown as { unref?(): void } | null)?.unref?.();
  child.unref();
  return { process: child, complaint: () => complaint.trim() };
}

/** In the build, whatever the depth of the file that holds this code; the source uses the build's. */
function locateProgram(program: string): string {
  for (const place of ["./", "../", "../../", "../../dist/"]) {
    const path = fileURLToPath(new URL(`${place}${program}`, import.meta.url));
    if (existsSync(path)) return path;
  }
  throw new Error("the program that runs the model is missing: run npm run build");
}
