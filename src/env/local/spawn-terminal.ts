import { closeSync } from "node:fs";
import type { RunningProcess, SpawnRequest, TerminalSize } from "../environment.js";
import { FILTER_DESCRIPTOR } from "../sandbox/sandbox.js";
import { backgroundVector, confinedBackgroundVector } from "./command-line.js";
import { joining } from "./joining.js";
import { type ProcessHost, prepareProgram } from "./prepare.js";

/** Starts a program in a terminal and lets it go on. The cwd must exist. */
export async function spawnInTerminal(
  request: SpawnRequest & { readonly pty: TerminalSize },
  host: ProcessHost,
): Promise<RunningProcess> {
  const { spawnInPty } = await import("../pty/local-pty.js");
  const vectors = { plain: backgroundVector, confined: confinedBackgroundVector };
  const { argv, cwd, env, mark, confinement, joinFiles } = await prepareProgram(request, host, vectors);
  const filter = confinement?.filter;
  const release = async () => {
    if (filter !== undefined) closeSync(filter);
    await confinement?.release();
  };
  try {
    const child = await spawnInPty({
      argv: joining(argv, joinFiles),
      cwd,
      env,
      mark,
      size: request.pty,
      held: confinement !== undefined,
      confinedBy: confinement?.confinedBy,
      ...(filter !== undefined && {
        files: [{ descriptor: FILTER_DESCRIPTOR, path: `/proc/${process.pid}/fd/${filter}` }],
      }),
      onOutput: (bytes) => request.onOutput(bytes),
    });
    void child.ended.then(release);
    return child;
  } catch (error) {
    await release();
    throw error;
  }
}
