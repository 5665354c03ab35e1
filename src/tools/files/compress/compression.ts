import { pipeline, Readable, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { throughProgram } from "../program-filter.js";
import type { Compression } from "./formats.js";

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Node has them from 22.15 on; the type declarations of older versions do not know. */
const zstd = zlib as {
  readonly createZstdCompress?: () => Transform;
  readonly createZstdDecompress?: () => Transform;
};

const PIECE_BYTES = 128 * 1024;

export interface Filtering {
  readonly bytes: Bytes;
  readonly ctx: CallContext;
}

export function compressStream(kind: Compression, { bytes, ctx }: Filtering): Bytes {
  if (kind === undefined) return bytes;
  if (kind === "gzip") return throughStream(zlib.createGzip({ chunkSize: PIECE_BYTES }), bytes);
  const stream = zstd.createZstdCompress?.();
  return stream === undefined
    ? zstdProgram(["zstd", "-q", "-c"], { bytes, ctx })
    : throughStream(stream, bytes);
}

export function decompressStream(kind: Compression, { bytes, ctx }: Filtering): Bytes {
  if (kind === undefined) return bytes;
  if (kind === "gzip") return throughStream(zlib.createGunzip({ chunkSize: PIECE_BYTES }), bytes);
  const stream = zstd.createZstdDecompress?.();
  return stream === undefined
    ? zstdProgram(["zstd", "-q", "-d", "-c"], { bytes, ctx })
    : throughStream(stream, bytes);
}

async function* throughStream(stream: Transform, bytes: Bytes): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: false });
  // What goes wrong ends the stream that is read here, which tells it.
  pipeline(source, stream, () => undefined);
  try {
    yield* stream;
  } finally {
    source.destroy();
    stream.destroy();
  }
}

function zstdProgram(command: readonly string[], { bytes, ctx }: Filtering): AsyncGenerator<Uint8Array> {
  return throughProgram({
    command,
    input: bytes,
    cwd: ctx.session.cwd,
    ctx,
    failure: (exitCode) =>
      exitCode === 126 || exitCode === 127
        ? new ToolError(
            `zst needs Node 22.15 or the program zstd, and ${ctx.environment.name} has neither.`,
            {
              code: "unavailable",
              hint: "Install it there (apt-get install zstd), or use gz or zip.",
            },
          )
        : new Error(`zstd ended with exit code ${exitCode}`),
  });
}

/** The first bytes of what comes out. */
export async function firstBytes(bytes: Bytes, count: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    parts.push(part);
    length += part.length;
    if (length >= count) break;
  }
  return Buffer.concat(parts).subarray(0, count);
}
