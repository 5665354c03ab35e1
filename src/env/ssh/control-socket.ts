import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import { destination, type SshOptions } from "./options.js";

/** A socket's path has 104 bytes on some systems, and `ssh` adds 17 for the moment of its making. */
const MAX_PATH_BYTES = 104 - 1 - 17;
/** Anything else could mean something to `ssh`, which expands its paths. */
const SAFE_PATH = /^[A-Za-z0-9/._+ -]+$/;

export interface ControlSocket {
  readonly path: string;
  /** Made for this socket alone; empty when the socket lies in the folder of the settings. */
  readonly ownFolder: string;
}

/** A place for the socket of one connection that nobody else can reach. */
export async function placeControlSocket(options: SshOptions): Promise<ControlSocket> {
  const name = socketName(options);
  const path = join(options.controlDir, name);
  if (fits(path)) {
    await makePrivate(options.controlDir);
    return { path, ownFolder: "" };
  }
  for (const parent of [tmpdir(), "/tmp"]) {
    if (!fits(join(parent, "hermes-ssh-XXXXXX", name))) continue;
    const ownFolder = await mkdtemp(join(parent, "hermes-ssh-"));
    return { path: join(ownFolder, name), ownFolder };
  }
  throw new ToolError(
    `No place for the socket of an ssh connection: ${options.controlDir} is too long a path.`,
    {
      code: "unavailable",
      hint: "Set TMPDIR to a folder with a short path of plain characters.",
    },
  );
}

/** Tells connections of different hosts, runtimes and moments apart. */
function socketName(options: SshOptions): string {
  const place = sha256(destination(options)).slice(0, 16);
  return `${place}-${process.pid.toString(36)}${randomBytes(3).toString("hex")}`;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES && SAFE_PATH.test(path);
}

/** Whoever can open the socket can act as this account on the host. */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const facts = await lstat(folder);
  if (!facts.isDirectory() || facts.uid !== process.getuid?.()) {
    throw new ToolError(`The folder for ssh sockets ${folder} is not a folder of this account.`, {
      code: "unavailable",
      hint: "Remove it, or choose another one.",
    });
  }
  if ((facts.mode & 0o077) !== 0) await chmod(folder, 0o700);
}
