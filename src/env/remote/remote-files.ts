import { randomBytes } from "node:crypto";
import { basename, isAbsolute, normalize, resolve as resolvePath } from "node:path/posix";
import { isMissing } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import type {
  EnvironmentFiles,
  FileLook,
  FileStat,
  FolderEntry,
  ReadRange,
  RunningProcess,
  SpawnRequest,
  WriteOptions,
  WriteReport,
} from "../environment.js";
import { fileError } from "../local/file-errors.js";
import type { Connection } from "./connection.js";
import { watchRemote } from "./remote-watch.js";
import { orAborted, runScript, streamFromScript } from "./run-script.js";
import { LIST, LOOK, READ, REALPATH, REMOVE, RENAME, STAT, WRITE } from "./scripts.gen.js";

/** What node reads at once, too. */
const MAX_READ_BYTES = 2 * 1024 ** 3 - 1;
const LONG_MS = 600_000;
const NOT_CONNECTED = "The home folder there is not known before the environment is connected.";

/** Files there, over one start per question. */
export function createRemoteFiles(
  connection: Connection,
  spawn: (request: SpawnRequest) => Promise<RunningProcess>,
  signal?: AbortSignal,
): EnvironmentFiles {
  const ready = () => orAborted(connection.ready(), signal);
  const ask = async (path: string, action: string, script: { text: string; args?: readonly string[] }) => {
    requireUsable(path);
    await ready();
    const args = [path, ...(script.args ?? [])];
    return runScript({ connection, script: script.text, args, path, action, signal });
  };
  const unlessMissing = async <T>(asked: Promise<T>): Promise<T | undefined> => {
    try {
      return await asked;
    } catch (error) {
      if (isMissing(causeOf(error))) return undefined;
      throw error;
    }
  };
  return {
    until: (given) => createRemoteFiles(connection, spawn, given),
    resolve(path, cwd) {
      refuseEmpty(path);
      refuseEmpty(cwd);
      if (path !== "~" && !path.startsWith("~/")) return resolvePath("/", cwd, path);
      const home = connection.last?.home;
      if (home === undefined) throw new ToolError(NOT_CONNECTED, { code: "unavailable" });
      return resolvePath(home, path.slice(2));
    },
    async realpath(path) {
      return (await ask(path, "resolve", { text: REALPATH })).stdout.toString();
    },
    async stat(path) {
      const found = await unlessMissing(ask(path, "look at", { text: STAT }));
      return found === undefined ? undefined : readStat(found.stdout.toString());
    },
    async look(path, { maxBytes }) {
      const args = [String(maxBytes)];
      const found = await unlessMissing(ask(normalize(path), "look at", { text: LOOK, args }));
      return found === undefined ? undefined : readLook(found.stdout);
    },
    async list(path, options) {
      const args = options?.details === true ? ["details"] : [];
      return readList((await ask(path, "list", { text: LIST, args })).stdout);
    },
    async read(path, range) {
      requireUsable(path);
      await ready();
      if (range?.end !== undefined && range.end <= (range.start ?? 0)) return new Uint8Array();
      const args = [normalize(path), ...rangeArguments(range)];
      const run = {
        connection,
        script: READ,
        args,
        path,
        action: "read",
        limitMs: LONG_MS,
        maxBytes: MAX_READ_BYTES,
        signal,
      };
      const { stdout } = await runScript(run).catch((error: unknown) => {
        throw fileError({ error, path, action: "read" });
      });
      return stdout;
    },
    async *stream(path, range) {
      requireUsable(path);
      const args = [normalize(path), ...rangeArguments(range)];
      yield* streamFromScript({ connection, script: READ, args, path, action: "read", signal });
    },
    async write(path, data, options) {
      requireUsable(path);
      return writeThere({ connection, path: normalize(path), data, ...options, signal });
    },
    async remove(path) {
      await ask(normalize(path), "remove", { text: REMOVE });
    },
    async rename(from, to) {
      requireUsable(to);
      await ready();
      const exactly = connection.last?.movesExactly === true ? "-T" : "";
      await ask(normalize(from), "rename", { text: RENAME, args: [normalize(to), exactly] });
    },
    watch(path, options) {
      requireUsable(path);
      return watchRemote({ path: normalize(path), options, spawn });
    },
  };
}

function rangeArguments(range: ReadRange = {}): readonly string[] {
  const start = Math.max(0, range.start ?? 0);
  const plain = start === 0 && range.end === undefined;
  return [
    range.real === true ? "real" : "",
    plain ? "" : String(start),
    range.end === undefined ? "" : String(Math.max(0, range.end - start)),
  ];
}

function refuseEmpty(path: string): void {
  if (path === "") throw new ToolError("The path is empty.", { code: "invalid_arguments" });
  if (path.includes("\0")) {
    throw new ToolError(`The path ${JSON.stringify(path)} holds a NUL byte, which no file name can.`, {
      code: "invalid_arguments",
    });
  }
}

function requireUsable(path: string): void {
  refuseEmpty(path);
  if (isAbsolute(path)) return;
  throw new ToolError(`The path ${JSON.stringify(path)} is not absolute.`, {
    code: "invalid_arguments",
    hint: "Resolve it against the working directory first.",
  });
}

function causeOf(error: unknown): unknown {
  return ToolError.isInstance(error) ? error.cause : undefined;
}

const FILE_TYPE = 0o170000;
const TYPES: ReadonlyMap<number, FileStat["type"]> = new Map([
  [0o100000, "file"],
  [0o040000, "directory"],
  [0o120000, "symlink"],
]);
const LETTERS: Readonly<Record<string, FileStat["type"]>> = { f: "file", d: "directory", l: "symlink" };

function readStat(line: string): FileStat {
  const [numbers = "", time = ""] = line.trim().split("|");
  const [mode = "0", size = "0", inode = "", seconds = "0"] = numbers.split(" ");
  const bits = Number.parseInt(mode, 16);
  return {
    type: TYPES.get(bits & FILE_TYPE) ?? "other",
    size: Number(size),
    mtimeMs: milliseconds(time) ?? Number(seconds) * 1000,
    mode: bits & 0o7777,
    inode,
  };
}

/** `2024-05-01 12:34:56.123456789 +0000`, always in UTC. */
function milliseconds(time: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)? \+0000$/.exec(time);
  if (match === null) return undefined;
  const [, day, clock, fraction = "0"] = match;
  return Date.parse(`${day}T${clock}Z`) + Number(fraction) * 1000;
}

/** The content counts only if it has the length that was seen: otherwise somebody is changing the file. */
function readLook(bytes: Buffer): FileLook {
  const end = bytes.indexOf("\n");
  const stat = readStat(bytes.subarray(0, end < 0 ? bytes.length : end).toString());
  const rest = end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 1);
  const isWhole = rest[0] === PLUS && rest.length - 1 === stat.size;
  return isWhole ? { stat, bytes: rest.subarray(1) } : { stat };
}

const PLUS = "+".charCodeAt(0);

function readList(bytes: Buffer): readonly FolderEntry[] {
  const entries: { name: string; type: FileStat["type"] }[] = [];
  const stats = new Map<string, FileStat>();
  const targets = new Map<string, string>();
  const [names = "", lines = "", links = ""] = bytes.toString().split("\0\0");
  for (const entry of names.split("\0")) {
    if (entry !== "") entries.push({ name: entry.slice(1), type: LETTERS[entry[0] ?? ""] ?? "other" });
  }
  for (const line of lines.split("\n")) {
    // Numbers, the time, and the name, which may hold a bar itself; a name of two lines is left out.
    const [, facts, name] = /^([0-9a-f]+ \d+ [^|]*\|[^|]*)\|\.\/(.*)$/.exec(line) ?? [];
    if (facts !== undefined && name !== undefined) stats.set(name, readStat(facts));
  }
  const words = links.split("\0");
  for (let at = 0; at + 1 < words.length; at += 2) targets.set(words[at] ?? "", words[at + 1] ?? "");
  return entries
    .map((entry) => ({ ...entry, stat: stats.get(entry.name), target: targets.get(entry.name) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

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
  readonly signal?: AbortSignal | undefined;
}

export async function writeThere(request: WriteThere): Promise<WriteReport> {
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

async function replaceFile({
  connection,
  path,
  data,
  expected,
  mode,
  signal,
}: WriteThere): Promise<WriteReport> {
  if (basename(path) === "") {
    throw new ToolError(`Cannot write ${path}: it is a folder.`, { hint: "Name a regular file." });
  }
  const { movesExactly } = await orAborted(connection.ready(), signal);
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
    signal,
  });
  const [created, dirsCreated, ...there] = stdout.toString().split(" ");
  const line = there.join(" ");
  return {
    created: created === "1",
    dirsCreated: dirsCreated === "1",
    stat: line === "" ? undefined : readStat(line),
  };
}
