import { randomBytes } from "node:crypto";
import { basename } from "node:path/posix";
import { ToolError } from "../../tool/errors.js";
import type { WriteOptions } from "../environment.js";
import type { Connection } from "./connection.js";
import { WRITE } from "./file-scripts.js";
import { runScript } from "./run-script.js";

const LIMIT_MS = 600_000;

/** One writer per file at a time from this process, so that comparing and swapping is one step. */
const writers = new WeakMap<Connection, Map<string, Promise<unknown>>>();

export interface WriteThere {
  readonly connection: Connection;
  /** A real path: a link that is on the way now is refused. */
  readonly path: string;
  readonly data: Uint8Array;
  readonly expected?: WriteOptions["expected"] | undefined;
  readonly mode?: number | undefined;
}

export async function writeThere(
  request: WriteThere,
): Promise<{ readonly created: boolean; readonly dirsCreated: boolean }> {
  const busy = writers.get(request.connection) ?? new Map<string, Promise<unknown>>();
  writers.set(request.connection, busy);
  const before = busy.get(request.path) ?? Promise.resolve();
  const mine = before.then(() => replaceFile(request));
  const settled = mine.catch(() => {});
  busy.set(request.path, settled);
  try {
    return await mine;
  } finally {
    if (busy.get(request.path) === settled) busy.delete(request.path);
  }
}

async function replaceFile({ connection, path, data, expected, mode }: WriteThere) {
  if (basename(path) === "") {
    throw new ToolError(`Cannot write ${path}: it is a folder.`, { hint: "Name a regular file." });
  }
  const { movesExactly } = await connection.ready();
  const { stdout } = await runScript({
    connection,
    script: WRITE,
    args: [
      path,
      String(data.byteLength),
      expected === undefined ? "any" : (expected.sha256 ?? "new"),
      `.hermes-${randomBytes(6).toString("hex")}.tmp`,
      movesExactly ? "-T" : "",
      mode === undefined ? "" : (mode & 0o7777).toString(8),
    ],
    stdin: data,
    path,
    action: "write",
    expected: expected?.sha256,
    limitMs: LIMIT_MS,
  });
  const [created, dirsCreated] = stdout.toString().split(" ");
  return { created: created === "1", dirsCreated: dirsCreated === "1" };
}
