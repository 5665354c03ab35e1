import { readFile, stat } from "node:fs/promises";
import { livingTree } from "./process-tree.js";

/** Numbers of the calls that wait for bytes: read and readv. */
const READ_CALLS: Readonly<Record<string, ReadonlySet<string>>> = {
  x64: new Set(["0", "19"]),
  arm64: new Set(["63", "65"]),
};

/** The same for both ends. */
export interface PipeIdentity {
  readonly dev: number;
  readonly ino: number;
}

/**
 * Whether somebody of the tree waits in a read from this pipe. A program that waits for many things at once
 * (poll, select) does not show. Undefined where the kernel does not tell.
 */
export async function readsFrom(place: {
  readonly leader: number;
  readonly pipe: PipeIdentity;
}): Promise<boolean | undefined> {
  const calls = READ_CALLS[process.arch];
  if (process.platform !== "linux" || calls === undefined) return undefined;
  const answers = await Promise.all(
    (await livingTree(place.leader)).map((pid) => waitsIn(pid, { calls, pipe: place.pipe })),
  );
  if (answers.includes(true)) return true;
  return answers.length > 0 && answers.every((answer) => answer === undefined) ? undefined : false;
}

async function waitsIn(
  pid: number,
  what: { readonly calls: ReadonlySet<string>; readonly pipe: PipeIdentity },
): Promise<boolean | undefined> {
  let line: string;
  try {
    line = await readFile(`/proc/${pid}/syscall`, "latin1");
  } catch {
    return undefined;
  }
  const [call = "", descriptor = ""] = line.split(" ");
  if (!what.calls.has(call)) return false;
  try {
    const { dev, ino } = await stat(`/proc/${pid}/fd/${Number(descriptor)}`);
    return dev === what.pipe.dev && ino === what.pipe.ino;
  } catch {
    return false;
  }
}
