import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { ToolError } from "../../tool/errors.js";
import type { TransferReport } from "../environment.js";
import type { ReadMember, TarListener } from "./tar-reader.js";
import { type TarMember, tarEnd, tarHeader, tarPadding } from "./tar-writer.js";

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
    const member = (type: TarMember["type"], more: { size: number; target?: Buffer | undefined }): Buffer =>
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

/**
 * Lays an archive's members into an empty folder of this machine. Nothing of it leaves the folder: a name that
 * leads out ends the copy, links are made last, so that no file is written through one, and a link that would
 * lead out is left away.
 */
export class UnpackHere implements TarListener {
  readonly #root: Buffer;
  #file: fs.FileHandle | undefined;
  #member: ReadMember | undefined;
  readonly #links: { readonly place: Buffer; readonly target: Buffer }[] = [];
  readonly #folders: { readonly place: Buffer; readonly mode: number; readonly mtimeMs: number }[] = [];
  #files = 0;
  #bytes = 0;

  constructor(root: string) {
    this.#root = Buffer.from(root);
  }

  async onMember(member: ReadMember): Promise<void> {
    this.#member = member;
    const parts = safeParts(member.name);
    const place = this.#at(parts);
    if (member.type === "directory") {
      await fs.mkdir(place, { recursive: true, mode: 0o700 });
      if (parts.length > 0) this.#folders.push({ place, mode: member.mode, mtimeMs: member.mtimeMs });
      return;
    }
    if (parts.length === 0 || member.type === "other") return;
    await fs.mkdir(this.#at(parts.slice(0, -1)), { recursive: true, mode: 0o700 });
    if (member.type === "file") this.#file = await fs.open(place, "wx", 0o600);
    else if (member.target === undefined) return;
    else if (member.type === "symlink") {
      if (staysInside(parts, member.target)) this.#links.push({ place, target: member.target });
    } else {
      await fs.copyFile(this.#at(safeParts(member.target)), place, constants.COPYFILE_EXCL);
      this.#files += 1;
      this.#bytes += (await fs.stat(place)).size;
    }
  }

  async onBytes(bytes: Buffer): Promise<void> {
    if (this.#file === undefined) return;
    await this.#file.writeFile(bytes);
    this.#bytes += bytes.length;
  }

  async onMemberEnd(): Promise<void> {
    const [file, member] = [this.#file, this.#member];
    this.#file = undefined;
    if (file === undefined || member === undefined) return;
    this.#files += 1;
    try {
      await file.chmod(member.mode & 0o777);
      await file.utimes(member.mtimeMs / 1000, member.mtimeMs / 1000);
    } finally {
      await file.close();
    }
  }

  /** Also after an error. */
  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async finish(): Promise<TransferReport> {
    for (const { place, target } of this.#links) await fs.symlink(target, place);
    // The inner ones first: making something in a folder changes its time.
    for (const { place, mode, mtimeMs } of this.#folders.reverse()) {
      await fs.chmod(place, (mode & 0o777) | 0o700);
      await fs.utimes(place, mtimeMs / 1000, mtimeMs / 1000);
    }
    return { files: this.#files, bytes: this.#bytes };
  }

  #at(parts: readonly string[]): Buffer {
    return Buffer.concat([this.#root, ...parts.map((part) => Buffer.from(`/${part}`, "latin1"))]);
  }
}

/** The names on the way, one character per byte. */
function safeParts(name: Buffer): readonly string[] {
  const text = name.toString("latin1");
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (!text.startsWith("/") && !parts.includes("..") && !text.includes("\0")) return parts;
  throw new ToolError(
    `The archive names ${JSON.stringify(name.toString())}, which lies outside the folder.`,
    {
      code: "denied",
      hint: "Nothing was copied. Look at what the other side sends before you try again.",
    },
  );
}

/** Whether a link in this place leads to something within the folder. */
export function staysInside(parts: readonly string[], target: Buffer): boolean {
  const text = target.toString("latin1");
  if (text.startsWith("/")) return false;
  let depth = parts.length - 1;
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    depth += part === ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}
