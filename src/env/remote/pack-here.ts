import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { type TarMember, tarEnd, tarHeader, tarPadding } from "./tar-writer.js";
import { staysInside } from "./unpack-here.js";

const CHUNK = 256 * 1024;

export interface Counted {
  files: number;
  bytes: number;
}

/**
 * A folder of this machine as a tar archive, piece by piece: files, folders, and links that stay within it.
 * Devices, sockets and pipes are left away.
 */
export async function* packFolder(root: string, counted: Counted): AsyncGenerator<Uint8Array> {
  yield* packEntries({ root: Buffer.from(root), parts: [], counted });
  yield tarEnd();
}

interface Level {
  readonly root: Buffer;
  /** Names below the root, one character per byte. */
  readonly parts: readonly string[];
  readonly counted: Counted;
}

async function* packEntries(level: Level): AsyncGenerator<Uint8Array> {
  const folder = at(level.root, level.parts);
  const names = await fs.readdir(folder, { encoding: "buffer" });
  for (const name of names.map((each) => each.toString("latin1")).sort()) {
    const parts = [...level.parts, name];
    const place = at(level.root, parts);
    const stats = await fs.lstat(place);
    const member = (type: TarMember["type"], more: { size: number; target?: Buffer }): Buffer =>
      tarHeader({
        name: Buffer.from(`./${parts.join("/")}${type === "directory" ? "/" : ""}`, "latin1"),
        type,
        mode: stats.mode,
        mtimeMs: stats.mtimeMs,
        ...more,
      });
    if (stats.isDirectory()) {
      yield member("directory", { size: 0 });
      yield* packEntries({ ...level, parts });
    } else if (stats.isSymbolicLink()) {
      const target = await fs.readlink(place, { encoding: "buffer" });
      if (staysInside(parts, target)) yield member("symlink", { size: 0, target });
    } else if (stats.isFile()) {
      yield* packFile({ place, counted: level.counted, header: (size) => member("file", { size }) });
    }
  }
}

async function* packFile(file: {
  readonly place: Buffer;
  readonly counted: Counted;
  header(size: number): Buffer;
}): AsyncGenerator<Uint8Array> {
  const handle = await fs.open(file.place, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const { size } = await handle.stat();
    yield file.header(size);
    yield* bytesOf(handle, size);
    yield tarPadding(size);
    file.counted.files += 1;
    file.counted.bytes += size;
  } finally {
    await handle.close();
  }
}

/** Exactly so many bytes: the size has been told before. */
export async function* bytesOf(handle: fs.FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error("a file became shorter while it was copied");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function at(root: Buffer, parts: readonly string[]): Buffer {
  return Buffer.concat([root, ...parts.map((part) => Buffer.from(`/${part}`, "latin1"))]);
}
