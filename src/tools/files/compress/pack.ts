import { Readable } from "node:stream";
import { tarEnd, tarHeader, tarPadding } from "../../../env/remote/tar-writer.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { Member } from "./collect-inputs.js";
import { compressStream } from "./compression.js";
import { compressionOf, type Format, isTar } from "./formats.js";
import { MAX_ARCHIVE_BYTES } from "./limits.js";

export interface Packing {
  readonly members: readonly Member[];
  readonly format: Format;
  readonly ctx: CallContext;
  /** Told after each file. */
  onPacked?(done: number): void;
}

/** The bytes of the whole archive. */
export async function pack(packing: Packing): Promise<Uint8Array> {
  const { format, ctx, members } = packing;
  if (format === "zip") return collected(zipBytes(packing), ctx);
  if (isTar(format))
    return collected(compressStream(compressionOf(format), { bytes: tarBytes(packing), ctx }), ctx);
  const [only] = members;
  if (members.length !== 1 || only?.type !== "file") {
    throw new ToolError(`A .${format} holds one file, and this would be ${members.length}.`, {
      code: "invalid_arguments",
      hint: `Use format: "tar.${format}" or "zip" for folders and for several files.`,
    });
  }
  return collected(compressStream(compressionOf(format), { bytes: exactBytes(only, ctx), ctx }), ctx);
}

async function collected(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ctx: CallContext,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    ctx.signal.throwIfAborted();
    parts.push(part);
    length += part.length;
    if (length > MAX_ARCHIVE_BYTES) {
      throw new ToolError(`The archive would be larger than ${MAX_ARCHIVE_BYTES / 1024 ** 2} MiB.`, {
        hint: "Pack fewer files, or use tar in the terminal.",
      });
    }
  }
  return Buffer.concat(parts);
}

async function* tarBytes({ members, ctx, onPacked }: Packing): AsyncGenerator<Uint8Array> {
  for (const [index, member] of members.entries()) {
    const { name, type, stat } = member;
    const size = type === "file" ? stat.size : 0;
    const bytes = Buffer.from(type === "directory" ? `${name}/` : name);
    yield tarHeader({ name: bytes, type, size, mode: stat.mode, mtimeMs: stat.mtimeMs });
    if (type === "file") {
      yield* exactBytes(member, ctx);
      yield tarPadding(size);
    }
    onPacked?.(index + 1);
  }
  yield tarEnd();
}

async function* zipBytes({ members, ctx, onPacked }: Packing): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  let done = 0;
  for (const member of members) {
    const { name, type, stat } = member;
    const mtime = new Date(stat.mtimeMs);
    if (type === "directory") {
      zip.addEmptyDirectory(name, { mtime, mode: 0o040000 | (stat.mode & 0o777) });
      continue;
    }
    zip.addReadStreamLazy(name, { mtime, mode: 0o100000 | (stat.mode & 0o777), size: stat.size }, (take) => {
      onPacked?.(++done);
      take(null, Readable.from(exactBytes(member, ctx), { objectMode: false }));
    });
  }
  const output = zip.outputStream as Readable;
  zip.on("error", (error: Error) => output.destroy(error));
  zip.end();
  try {
    yield* output;
  } finally {
    output.destroy();
  }
}

/** As many bytes as were promised; a file that changes meanwhile would ruin all that comes after it. */
async function* exactBytes({ real, stat }: Member, ctx: CallContext): AsyncGenerator<Uint8Array> {
  let left = stat.size;
  if (left > 0) {
    for await (const piece of ctx.environment.files.stream(real)) {
      left -= piece.length;
      if (left < 0) break;
      yield piece;
    }
  }
  if (left !== 0) {
    throw new ToolError(`${real} was changed while it was being packed.`, {
      hint: "Pack it again once nobody writes to it.",
      details: { path: real },
    });
  }
}
