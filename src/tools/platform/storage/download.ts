import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { isMissing } from "../../../base/errno.js";
import { sha256 } from "../../../base/hash.js";
import { ToolError } from "../../../tool/errors.js";
import { writeVerified } from "../../files/write-verified.js";
import { errorName, type Storage } from "./s3-client.js";

/** Up to here a file is put in place at once, and can be taken back. */
const SMALL_BYTES = 16 * 1024 * 1024;
/** The connection may break this often without any new byte. */
const MAX_BREAKS = 3;

export interface Downloaded {
  readonly bytes: number;
  readonly etag: string | undefined;
  readonly content_type: string | undefined;
  readonly resumed_bytes: number;
}

/**
 * Into a file of this machine first, piece by piece, which goes on where an earlier attempt was broken off; then to its
 * place in the environment. What lies at the place is whole or what was there before.
 */
export async function downloadFile(job: {
  readonly storage: Storage;
  readonly key: string;
  readonly real: string;
}): Promise<Downloaded> {
  const { storage, key, real } = job;
  const { library, client, place, ctx } = storage;
  const object = { Bucket: place.bucket, Key: key };
  const head = await client.send(new library.HeadObjectCommand(object), { abortSignal: ctx.signal });
  const size = head.ContentLength ?? 0;
  const identity = [place.endpoint, place.bucket, key, head.ETag ?? "", size];
  const part = join(ctx.cacheDir, "storage", `${sha256(JSON.stringify(identity)).slice(0, 32)}.part`);
  await mkdir(dirname(part), { recursive: true });
  const isEncoded =
    head.ContentEncoding !== undefined && !/^(?:identity|aws-chunked)?$/.test(head.ContentEncoding);
  // What is unpacked on the way has other positions than the object.
  if (isEncoded) await rm(part, { force: true });
  const resumed = Math.min(await sizeOf(part), size);
  let have = resumed;
  for (let breaks = 0; have < size || (size === 0 && breaks === 0); ) {
    const before = have;
    try {
      const Range = have > 0 ? `bytes=${have}-` : undefined;
      const match = head.ETag === undefined ? {} : { IfMatch: head.ETag };
      const got = await client.send(
        new library.GetObjectCommand({ ...object, ...match, ...(Range && { Range }) }),
        {
          abortSignal: ctx.signal,
        },
      );
      have = await append({ body: got.Body as Readable, part, from: have, size, storage });
      if (isEncoded || size === 0) break;
      if (have === before) throw new Error("the storage sent an empty answer");
    } catch (error) {
      have = await sizeOf(part);
      breaks = have > before ? 0 : breaks + 1;
      if (ctx.signal.aborted || breaks >= MAX_BREAKS || !isBroken(error)) throw error;
      ctx.progress({ message: `the connection broke at ${have} of ${size} bytes; going on there` });
    }
  }
  await putInPlace({ part, real, bytes: have, storage });
  return { bytes: have, etag: head.ETag, content_type: head.ContentType, resumed_bytes: resumed };
}

async function append(job: {
  readonly body: Readable;
  readonly part: string;
  readonly from: number;
  readonly size: number;
  readonly storage: Storage;
}): Promise<number> {
  const file = await open(job.part, job.from === 0 ? "w" : "r+");
  let at = job.from;
  let told = 0;
  try {
    for await (const chunk of job.body as AsyncIterable<Uint8Array>) {
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
      if (at - told > 16 * 1024 * 1024) {
        told = at;
        job.storage.ctx.progress({
          message: `${at} of ${job.size} bytes`,
          fraction: Math.min(1, at / job.size),
        });
      }
    }
  } finally {
    await file.close();
  }
  return at;
}

/** The storage answered, and will answer the same again; everything else is worth another try. */
function isBroken(error: unknown): boolean {
  const status =
    typeof error === "object" && error !== null && "$metadata" in error
      ? (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode
      : undefined;
  if (ToolError.isInstance(error)) return error.code === "failed" || error.code === "timeout";
  return errorName(error) !== "AbortError" && (status === undefined || status < 300 || status >= 500);
}

async function putInPlace(job: {
  readonly part: string;
  readonly real: string;
  readonly bytes: number;
  readonly storage: Storage;
}): Promise<void> {
  const { part, real, bytes } = job;
  const { ctx } = job.storage;
  if (bytes <= SMALL_BYTES) await writeVerified({ real, bytes: await readFile(part), ctx });
  else await ctx.environment.push({ from: part, to: real, signal: ctx.signal });
  await rm(part, { force: true });
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
