import { randomBytes } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { FetchResponse } from "../../tool/fetch.js";

/** Bodies up to this size come back in the result, longer ones as a file. */
export const INLINE_BYTES = 100 * 1024;
/** No more than this is downloaded. */
export const MAX_BODY_BYTES = 50 * 1024 * 1024;
const PREVIEW_CHARS = 2_000;

export interface ReadBody {
  readonly body?: string;
  /** Holds the body when it is binary or large. */
  readonly body_path?: string;
  readonly body_preview?: string | undefined;
  readonly body_bytes: number;
  /** True when the download stopped at the limit. */
  readonly truncated: boolean;
}

/** Reads a response in bounded memory. */
export async function readBody(response: FetchResponse, folder: string): Promise<ReadBody> {
  const type = response.headers.get("content-type") ?? "";
  const { head, path, total } = await download(response, { folder, type });
  const { truncated } = response;
  const text = textOf(head, type);
  if (text !== undefined && path === undefined) return { body: text, body_bytes: total, truncated };
  return {
    body_path: path ?? (await saveWhole(head, folder, type)),
    body_preview: text?.slice(0, PREVIEW_CHARS),
    body_bytes: total,
    truncated,
  };
}

async function download(response: FetchResponse, place: { folder: string; type: string }) {
  const parts: Uint8Array[] = [];
  let inMemory = 0;
  let total = 0;
  let file: Awaited<ReturnType<typeof createFile>> | undefined;
  try {
    for await (const bytes of response.body) {
      total += bytes.byteLength;
      if (file === undefined && inMemory + bytes.byteLength > INLINE_BYTES) {
        file = await createFile(place.folder, place.type);
        for (const part of parts) await file.handle.write(part);
      }
      if (file !== undefined) await file.handle.write(bytes);
      if (file === undefined || inMemory === 0) {
        parts.push(bytes);
        inMemory += bytes.byteLength;
      }
    }
  } finally {
    await file?.handle.close();
  }
  return { head: Buffer.concat(parts), path: file?.path, total };
}

async function saveWhole(bytes: Uint8Array, folder: string, type: string): Promise<string> {
  const file = await createFile(folder, type);
  try {
    await file.handle.write(bytes);
  } finally {
    await file.handle.close();
  }
  return file.path;
}

async function createFile(folder: string, type: string) {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `http-${randomBytes(8).toString("hex")}.${extensionFor(type)}`);
  return { path, handle: await open(path, "wx", 0o600) };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "text/html": "html",
  "text/csv": "csv",
  "text/markdown": "md",
  "application/xml": "xml",
  "text/xml": "xml",
  "application/pdf": "pdf",
  "application/zip": "zip",
  "application/gzip": "gz",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/mpeg": "mp3",
  "video/mp4": "mp4",
};

function extensionFor(type: string): string {
  const mime = (type.split(";")[0] ?? "").trim().toLowerCase();
  return (
    (Object.hasOwn(EXTENSIONS, mime) ? EXTENSIONS[mime] : undefined) ??
    (mime.startsWith("text/") ? "txt" : "bin")
  );
}

const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-www-form-urlencoded|yaml|x-ndjson))/i;

/** `undefined` when the bytes are not text. */
function textOf(bytes: Buffer, type: string): string | undefined {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ?? "utf-8";
  const declaredText = TEXT_TYPE.test(type);
  const wide = /^utf-?16/i.test(charset);
  if (!wide && bytes.includes(0)) return undefined;
  try {
    return new TextDecoder(charset, { fatal: !declaredText }).decode(bytes, { stream: true });
  } catch {
    // An unknown charset, or bytes that only look like text when one is generous.
    return declaredText ? bytes.toString("utf8") : undefined;
  }
}

/** Only cookies may come several times; everything else has been joined with commas. */
export function plainHeaders(headers: Headers): Readonly<Record<string, string | readonly string[]>> {
  const found: Record<string, string | readonly string[]> = Object.create(null);
  headers.forEach((value, name) => {
    found[name] = name === "set-cookie" ? headers.getSetCookie() : value;
  });
  return { ...found };
}
