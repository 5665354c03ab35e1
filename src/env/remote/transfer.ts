import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { join as joinThere } from "node:path/posix";
import { ToolError } from "../../tool/errors.js";
import type { EnvironmentFiles, Transfer, TransferReport } from "../environment.js";
import { fileError } from "../local/file-errors.js";
import type { Connection } from "./connection.js";
import { sendToScript, streamFromScript } from "./run-script.js";
import { PACK, UNPACK, WRITE } from "./scripts.gen.js";
import { bytesOf, type Counted, packFolder, UnpackHere } from "./tar-folder.js";
import { TarReader } from "./tar-reader.js";

export interface There {
  readonly connection: Connection;
  readonly files: EnvironmentFiles;
}

/** Copies a file or a folder from there to this machine; a folder is poured into one that exists. */
export async function fetchFromThere(transfer: Transfer, there: There): Promise<TransferReport> {
  const { from, to, signal } = transfer;
  refuseCancelled(signal);
  const files = (signal && there.files.until?.(signal)) ?? there.files;
  const going: Going = { ...there, files, signal };
  const found = await files.stat(from).catch((error: unknown) => {
    refuseCancelled(signal);
    throw error;
  });
  if (found === undefined) throw missing(from, "fetch");
  if (found.type !== "file" && found.type !== "directory") throw wrongKind(from, "fetch");
  await fs.mkdir(dirname(to), { recursive: true });
  const aside = await fs.mkdtemp(join(dirname(to), ".hermes-fetch-"));
  const arrived = join(aside, "arrived");
  try {
    const report =
      found.type === "file"
        ? await fetchFile({ from, to: arrived, mode: found.mode, mtimeMs: found.mtimeMs }, going)
        : await fetchFolder({ from, to: arrived }, going);
    await putInPlace({ arrived, to, isFolder: found.type === "directory" });
    return report;
  } catch (error) {
    refuseCancelled(signal);
    throw fileError({ error, path: to, action: "fetch to" });
  } finally {
    await fs.rm(aside, { recursive: true, force: true });
  }
}

interface Going extends There {
  readonly signal?: AbortSignal | undefined;
}

async function fetchFile(
  file: { from: string; to: string; mode: number; mtimeMs: number },
  going: Going,
): Promise<TransferReport> {
  const handle = await fs.open(file.to, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const chunk of going.files.stream(file.from)) {
      refuseCancelled(going.signal);
      await handle.writeFile(chunk);
      bytes += chunk.byteLength;
    }
    await handle.chmod(file.mode & 0o777);
    await handle.utimes(file.mtimeMs / 1000, file.mtimeMs / 1000);
  } finally {
    await handle.close();
  }
  return { files: 1, bytes };
}

async function fetchFolder(folder: { from: string; to: string }, going: Going): Promise<TransferReport> {
  await fs.mkdir(folder.to);
  const { tools } = await going.connection.ready();
  if (!tools.has("tar")) return fetchOneByOne(folder, going);
  const unpack = new UnpackHere(folder.to);
  const reader = new TarReader(unpack);
  const archive = streamFromScript({
    connection: going.connection,
    path: folder.from,
    script: PACK,
    action: "fetch",
    args: [folder.from],
    signal: going.signal,
  });
  try {
    for await (const chunk of archive) {
      refuseCancelled(going.signal);
      await reader.push(chunk);
    }
    if (!reader.complete) throw new ToolError(`Cannot fetch ${folder.from}: the archive ended too early.`);
    return await unpack.finish();
  } finally {
    await unpack.close();
  }
}

/** Without tar there: files and folders, each with a start of its own. */
async function fetchOneByOne(folder: { from: string; to: string }, going: Going): Promise<TransferReport> {
  const total = { files: 0, bytes: 0 };
  for (const { name, type } of await going.files.list(folder.from)) {
    refuseCancelled(going.signal);
    const [from, to] = [joinThere(folder.from, name), join(folder.to, name)];
    if (type === "directory") {
      await fs.mkdir(to);
      add(total, await fetchOneByOne({ from, to }, going));
    } else if (type === "file") {
      const found = await going.files.stat(from);
      if (found?.type === "file") add(total, await fetchFile({ from, to, ...found }, going));
    }
  }
  return total;
}

function add(total: Counted, part: TransferReport): void {
  total.files += part.files;
  total.bytes += part.bytes;
}

/** A folder that is there already keeps what else it holds; links in it are not followed. */
async function putInPlace(move: { arrived: string; to: string; isFolder: boolean }): Promise<void> {
  const existing = await fs.lstat(move.to).catch(() => undefined);
  if (move.isFolder && existing?.isDirectory() === true) {
    await fs.cp(move.arrived, move.to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    return;
  }
  if (existing !== undefined && (existing.isDirectory() || move.isFolder)) {
    throw new ToolError(
      `Cannot fetch to ${move.to}: a ${existing.isDirectory() ? "folder" : "file"} is there.`,
      {
        hint: "Name another place, or remove what is there.",
      },
    );
  }
  await fs.rename(move.arrived, move.to);
}

/** Copies a file or a folder of this machine there; a folder is poured into one that exists. */
export async function pushToThere(transfer: Transfer, there: There): Promise<TransferReport> {
  const { signal } = transfer;
  refuseCancelled(signal);
  const files = (signal && there.files.until?.(signal)) ?? there.files;
  return push(transfer, { ...there, files, signal }).catch((error: unknown) => {
    refuseCancelled(signal);
    throw error;
  });
}

async function push(transfer: Transfer, going: Going): Promise<TransferReport> {
  const stats = await fs.stat(transfer.from).catch((error: unknown) => {
    throw fileError({ error, path: transfer.from, action: "push" });
  });
  if (!stats.isFile() && !stats.isDirectory()) throw wrongKind(transfer.from, "push");
  const to = await going.files.realpath(transfer.to);
  if (stats.isFile()) return pushFile({ from: transfer.from, to }, going);
  const probe = await going.connection.ready();
  if (!probe.tools.has("tar")) return pushOneByOne({ from: transfer.from, to }, going);
  const counted: Counted = { files: 0, bytes: 0 };
  await sendToScript({
    connection: going.connection,
    signal: going.signal,
    script: UNPACK,
    args: [to, temporaryName(), probe.movesExactly ? "-T" : ""],
    content: watched(packFolder(transfer.from, counted), transfer.signal),
    path: to,
    action: "push to",
  });
  return counted;
}

async function pushFile(file: { from: string; to: string }, going: Going): Promise<TransferReport> {
  const { movesExactly } = await going.connection.ready();
  const handle = await fs.open(file.from, constants.O_RDONLY);
  try {
    const { size, mode } = await handle.stat();
    const octal = (mode & 0o777).toString(8);
    await sendToScript({
      connection: going.connection,
      signal: going.signal,
      script: WRITE,
      args: [file.to, String(size), "any", temporaryName(), movesExactly ? "-T" : "", octal],
      content: watched(bytesOf(handle, size), going.signal),
      path: file.to,
      action: "write",
    });
    return { files: 1, bytes: size };
  } finally {
    await handle.close();
  }
}

async function pushOneByOne(folder: { from: string; to: string }, going: Going): Promise<TransferReport> {
  const total = { files: 0, bytes: 0 };
  for (const entry of await fs.readdir(folder.from, { withFileTypes: true })) {
    const place = { from: join(folder.from, entry.name), to: joinThere(folder.to, entry.name) };
    if (entry.isDirectory()) add(total, await pushOneByOne(place, going));
    else if (entry.isFile()) add(total, await pushFile(place, going));
  }
  return total;
}

async function* watched(
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    refuseCancelled(signal);
    yield chunk;
  }
}

function refuseCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolError("The copy was cancelled.", { code: "cancelled" });
}

function temporaryName(): string {
  return `.hermes-${randomBytes(6).toString("hex")}.tmp`;
}

function missing(path: string, action: string): unknown {
  return fileError({ error: Object.assign(new Error("missing"), { code: "ENOENT" }), path, action });
}

function wrongKind(path: string, action: string): ToolError {
  return new ToolError(`Cannot ${action} ${basename(path)}: it is neither a file nor a folder.`, {
    hint: "Name a regular file or a folder.",
  });
}
