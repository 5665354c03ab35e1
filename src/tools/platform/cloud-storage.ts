import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import { locate } from "../files/paths.js";
import { writeVerified } from "../files/write-verified.js";
import { typeOf } from "./storage/content-type.js";
import { lastPart, storageEffects } from "./storage/effects.js";
import { objectPath, requireKey, resolvePlace } from "./storage/place.js";
import type { Storage } from "./storage/s3-client.js";

const ACTIONS = ["list", "get", "put", "delete", "presign", "copy"] as const;
type Action = (typeof ACTIONS)[number];
const MAX_LISTED = 10_000;

interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  readonly last_modified?: string | undefined;
  readonly etag?: string | undefined;
}

interface StorageOutput {
  readonly success: true;
  readonly status: "success";
  readonly action: Action;
  readonly bucket: string;
  readonly endpoint: string;
  readonly key?: string | undefined;
  readonly objects?: readonly StoredObject[] | undefined;
  readonly folders?: readonly string[] | undefined;
  readonly truncated?: boolean | undefined;
  readonly path?: string | undefined;
  readonly url?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly bytes?: number | undefined;
  readonly etag?: string | undefined;
  readonly content_type?: string | undefined;
  readonly parts?: number | undefined;
  readonly resumed_bytes?: number | undefined;
}

export default defineTool({
  name: "cloud_storage",
  toolset: "storage",
  emoji: "☁️",
  description:
    "List, get, put, delete, copy and presign objects of S3-compatible storage (AWS, MinIO, R2, OSS). Files of any " +
    "size; a broken transfer goes on where it stopped when it is repeated.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      bucket: { type: "string", minLength: 1, description: "Or the name of a configured storage" },
      key: { type: "string", description: "Name of the object; list: only names that begin with it" },
      path: {
        type: "string",
        description: "File to send (put) or to write (get; presign: the whole address)",
      },
      endpoint: {
        type: "string",
        description: "Address of the server, or a configured storage; AWS unless said",
      },
      to: { type: "string", description: "copy: the new key" },
      method: {
        type: "string",
        enum: ["GET", "PUT"],
        default: "GET",
        description: "presign: for which request",
      },
      expires_seconds: { type: "integer", minimum: 1, maximum: 604_800, default: 3600 },
      delimiter: { type: "string", description: "list: / shows folders instead of everything below" },
      limit: { type: "integer", minimum: 1, maximum: MAX_LISTED, default: 1000 },
      start_after: { type: "string", description: "list: go on after this key" },
    },
    required: ["action", "bucket"],
    additionalProperties: false,
  },
  permissions: ["storage:read", "storage:write", "file:read", "file:write", "network:fetch", "network:write"],
  everyCallNeeds: [],
  needs: { packages: ["@aws-sdk/client-s3"] },
  effects: storageEffects,
  timeoutMs: 6 * 60 * 60_000,

  async handler(args, ctx): Promise<StorageOutput> {
    const { action } = args;
    const key = action === "list" ? args.key : requireKey(args.key, action);
    const place = resolvePlace(args, ctx);
    const base = {
      success: true,
      status: "success",
      action,
      bucket: place.bucket,
      endpoint: place.endpoint,
    } as const;
    if (action === "presign") {
      const { presignedUrl } = await import("./storage/presign.js");
      const now = new Date();
      const url = presignedUrl({
        place,
        key: key ?? "",
        method: args.method,
        seconds: args.expires_seconds,
        now,
      });
      const expires_at = new Date(now.getTime() + args.expires_seconds * 1000).toISOString();
      if (args.path === undefined) return { ...base, key, url, expires_at };
      // What models see has the name of the key masked, since it is half of a credential; the file has it whole.
      const { path, real } = await locate(args.path, ctx);
      await writeVerified({ real, bytes: Buffer.from(`${url}\n`), ctx });
      return { ...base, key, url, expires_at, path };
    }
    const { openStorage, storageFailure } = await import("./storage/s3-client.js");
    const storage = await openStorage(place, ctx);
    try {
      if (action === "list") return { ...base, ...(await list(storage, args)) };
      if (action === "delete") return { ...base, key, ...(await remove(storage, key ?? "")) };
      if (action === "copy") return { ...base, key: args.to, ...(await copy(storage, key ?? "", args.to)) };
      const location = await locate(args.path ?? lastPart(key ?? ""), ctx);
      const job = { storage, key: key ?? "", real: location.real };
      if (action === "put") {
        if (args.path === undefined) throw needsPath();
        const { uploadFile } = await import("./storage/upload.js");
        return {
          ...base,
          key,
          path: location.path,
          ...(await uploadFile({ ...job, contentType: typeOf(args.path) })),
        };
      }
      const { downloadFile } = await import("./storage/download.js");
      return { ...base, key, path: location.path, ...(await downloadFile(job)) };
    } catch (error) {
      throw storageFailure(error, `${action} ${place.bucket}${key === undefined ? "" : `/${key}`}`, place);
    } finally {
      storage.client.destroy();
    }
  },

  // The names of objects are what others have called them.
  untrustedSource: (_args, { objects, endpoint, bucket }) =>
    objects === undefined ? undefined : `${endpoint.replace(/\/+$/, "")}/${bucket}`,

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "What a public bucket holds",
      pages: {
        "/reports/?list-type=2&max-keys=1000&prefix=2026%2F": `<ListBucketResult><Name>reports</Name><IsTruncated>false</IsTruncated>
<Contents><Key>2026/may.pdf</Key><Size>1200</Size><LastModified>2026-06-01T08:00:00.000Z</LastModified></Contents></ListBucketResult>`,
      },
      arguments: { action: "list", bucket: "reports", key: "2026/", endpoint: "{server}" },
      result: { bucket: "reports", objects: [{ key: "2026/may.pdf", bytes: 1200 }], truncated: false },
    },
  ],
});

async function list(
  { library, client, place, ctx }: Storage,
  args: {
    key?: string | undefined;
    delimiter?: string | undefined;
    limit: number;
    start_after?: string | undefined;
  },
): Promise<Pick<StorageOutput, "objects" | "folders" | "truncated">> {
  const objects: StoredObject[] = [];
  const folders = new Set<string>();
  let token: string | undefined;
  do {
    const page = await client.send(
      new library.ListObjectsV2Command({
        Bucket: place.bucket,
        Prefix: args.key,
        Delimiter: args.delimiter,
        MaxKeys: Math.min(1000, args.limit - objects.length),
        ...(token === undefined ? { StartAfter: args.start_after } : { ContinuationToken: token }),
      }),
      { abortSignal: ctx.signal },
    );
    for (const { Prefix } of page.CommonPrefixes ?? []) if (Prefix !== undefined) folders.add(Prefix);
    for (const { Key = "", Size = 0, LastModified, ETag } of page.Contents ?? [])
      objects.push({ key: Key, bytes: Size, last_modified: LastModified?.toISOString(), etag: ETag });
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined && objects.length + folders.size < args.limit);
  return { objects, ...(folders.size > 0 && { folders: [...folders] }), truncated: token !== undefined };
}

async function remove(
  { library, client, place, ctx }: Storage,
  key: string,
): Promise<Pick<StorageOutput, "bytes">> {
  const object = { Bucket: place.bucket, Key: key };
  // The storage says yes to deleting what is not there.
  const { ContentLength } = await client.send(new library.HeadObjectCommand(object), {
    abortSignal: ctx.signal,
  });
  await client.send(new library.DeleteObjectCommand(object), { abortSignal: ctx.signal });
  return { bytes: ContentLength };
}

async function copy(
  { library, client, place, ctx }: Storage,
  key: string,
  to: string | undefined,
): Promise<Pick<StorageOutput, "etag">> {
  const target = requireKey(to, "copy (to)");
  const copied = await client.send(
    new library.CopyObjectCommand({
      Bucket: place.bucket,
      Key: target,
      CopySource: objectPath(place.bucket, key).slice(1),
    }),
    { abortSignal: ctx.signal },
  );
  return { etag: copied.CopyObjectResult?.ETag };
}

function needsPath(): ToolError {
  return new ToolError("put needs path: the file to send.", {
    code: "invalid_arguments",
    hint: "Give path.",
  });
}

function humanText(out: StorageOutput): string {
  const where = `${out.bucket}${out.key === undefined ? "" : `/${out.key}`}`;
  const size = out.bytes === undefined ? "" : ` (${sizeText(out.bytes, "decimal")})`;
  switch (out.action) {
    case "list": {
      const rows = [
        ...(out.folders ?? []).map((name) => ["", "", mark.path(name)]),
        ...(out.objects ?? []).map(({ key, bytes, last_modified }) => [
          sizeText(bytes, "decimal"),
          mark.dim((last_modified ?? "").slice(0, 16).replace("T", " ")),
          key,
        ]),
      ];
      const more =
        out.truncated === true ? mark.dim("there are more: raise limit, or go on with start_after") : "";
      return rows.length === 0
        ? "nothing there"
        : [columns(rows, { right: [0] }), more].filter((line) => line !== "").join("\n");
    }
    case "get":
      return `${where} → ${mark.path(out.path ?? "")}${size}`;
    case "put":
      return `${mark.path(out.path ?? "")} → ${where}${size}`;
    case "delete":
      return `deleted ${where}${size}`;
    case "copy":
      return `copied to ${where}`;
    case "presign":
      return `${out.url ?? ""}\n${mark.dim(`until ${out.expires_at ?? ""}`)}`;
  }
}
