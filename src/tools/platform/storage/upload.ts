import { join } from "node:path";
import { sha256 } from "../../../base/hash.js";
import { ToolError } from "../../../tool/errors.js";
import { errorName, type Storage } from "./s3-client.js";
import { readState, removeState, writeState } from "./transfer-state.js";

/** Below this an object is sent in one request; parts must have at least 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
/** Parts on their way at once: memory holds that many. */
const PARALLEL = 3;

export interface Upload {
  readonly storage: Storage;
  readonly key: string;
  readonly real: string;
  readonly contentType: string | undefined;
}

export interface Uploaded {
  readonly bytes: number;
  readonly etag: string | undefined;
  readonly parts: number;
  /** Bytes that an earlier, broken attempt had already brought there. */
  readonly resumed_bytes: number;
}

interface UploadState {
  readonly uploadId: string;
  readonly partBytes: number;
  /** Tags by part number. */
  readonly parts: Record<string, string>;
}

export async function uploadFile(upload: Upload): Promise<Uploaded> {
  const { storage, key, real, contentType } = upload;
  const { library, client, place, ctx } = storage;
  const stat = await ctx.environment.files.stat(real);
  if (stat === undefined || stat.type !== "file") {
    throw new ToolError(`There is no file ${real}.`, {
      code: "invalid_arguments",
      hint: "Check the name with directory_list; folders are sent file by file.",
    });
  }
  const object = { Bucket: place.bucket, Key: key };
  const type = contentType === undefined ? {} : { ContentType: contentType };
  if (stat.size <= PART_BYTES) {
    const Body = await ctx.environment.files.read(real);
    const sent = await client.send(new library.PutObjectCommand({ ...object, ...type, Body }), {
      abortSignal: ctx.signal,
    });
    return { bytes: Body.length, etag: sent.ETag, parts: 1, resumed_bytes: 0 };
  }
  // The same file to the same place goes on where it was broken off; a changed one begins again.
  const identity = [ctx.environment.name, place.endpoint, place.bucket, key, real, stat.size, stat.mtimeMs];
  const file = join(ctx.cacheDir, "storage", `${sha256(JSON.stringify(identity)).slice(0, 32)}.upload`);
  const kept = await readState<UploadState>(file);
  try {
    return await sendParts({ ...upload, file, size: stat.size, state: kept ?? (await begin()) });
  } catch (error) {
    if (kept === undefined || errorName(error) !== "NoSuchUpload") throw error;
    // The storage has thrown the unfinished upload away meanwhile.
    await removeState(file);
    return sendParts({ ...upload, file, size: stat.size, state: await begin() });
  }

  async function begin(): Promise<UploadState> {
    const made = await client.send(new library.CreateMultipartUploadCommand({ ...object, ...type }), {
      abortSignal: ctx.signal,
    });
    const partBytes = Math.max(PART_BYTES, Math.ceil((stat?.size ?? 0) / MAX_PARTS / 1024) * 1024);
    const state = { uploadId: made.UploadId ?? "", partBytes, parts: {} };
    await writeState(file, state);
    return state;
  }
}

async function sendParts(
  job: Upload & { readonly file: string; readonly size: number; readonly state: UploadState },
): Promise<Uploaded> {
  const { storage, key, real, file, size, state } = job;
  const { library, client, place, ctx } = storage;
  const target = { Bucket: place.bucket, Key: key, UploadId: state.uploadId };
  const count = Math.ceil(size / state.partBytes);
  const lengthOf = (number: number) => Math.min(state.partBytes, size - (number - 1) * state.partBytes);
  const todo = Array.from({ length: count }, (_, at) => at + 1).filter(
    (number) => state.parts[number] === undefined,
  );
  const resumed = size - todo.reduce((sum, number) => sum + lengthOf(number), 0);
  let sent = resumed;
  let failed: unknown;
  const work = async () => {
    for (let number = todo.shift(); number !== undefined && failed === undefined; number = todo.shift()) {
      const start = (number - 1) * state.partBytes;
      const Body = await ctx.environment.files.read(real, { start, end: start + lengthOf(number) });
      if (Body.length !== lengthOf(number)) throw changedMeanwhile(real);
      const part = await client.send(new library.UploadPartCommand({ ...target, PartNumber: number, Body }), {
        abortSignal: ctx.signal,
      });
      state.parts[number] = part.ETag ?? "";
      await writeState(file, state);
      sent += Body.length;
      ctx.progress({ message: `sent part ${number} of ${count}`, fraction: sent / size });
    }
  };
  // Who fails stops the others after their part, so that what was sent is known.
  const workers = Array.from({ length: PARALLEL }, () =>
    work().catch((error: unknown) => {
      failed ??= error;
    }),
  );
  await Promise.all(workers);
  if (failed !== undefined) throw failed;
  const done = await client.send(
    new library.CompleteMultipartUploadCommand({
      ...target,
      MultipartUpload: {
        Parts: Array.from({ length: count }, (_, at) => ({ PartNumber: at + 1, ETag: state.parts[at + 1] })),
      },
    }),
    { abortSignal: ctx.signal },
  );
  await removeState(file);
  return { bytes: size, etag: done.ETag, parts: count, resumed_bytes: resumed };
}

function changedMeanwhile(path: string): ToolError {
  return new ToolError(`${path} changed while it was being sent.`, {
    hint: "Wait until nobody writes it any more, then send it again.",
  });
}
