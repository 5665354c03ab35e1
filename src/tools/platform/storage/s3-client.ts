import { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { encodeRfc3986, type StoragePlace } from "./place.js";

export type S3Library = typeof import("@aws-sdk/client-s3");

export interface Storage {
  readonly library: S3Library;
  readonly client: S3Client;
  readonly place: StoragePlace;
  readonly ctx: CallContext;
}

/** Long enough for a part over a slow line; the call's own deadline holds anyway. */
const REQUEST_MS = 30 * 60_000;

export async function openStorage(place: StoragePlace, ctx: CallContext): Promise<Storage> {
  // It says on every start which versions of Node it will give up some day.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const library = await ctx.load<S3Library>("@aws-sdk/client-s3");
  const { keys } = place;
  const client = new library.S3Client({
    endpoint: place.endpoint,
    region: place.region,
    ...(keys === undefined
      ? { credentials: { accessKeyId: "", secretAccessKey: "" }, signer: unsigned }
      : { credentials: { ...keys } }),
    // One name for the server whatever the bucket: only that address was judged.
    forcePathStyle: true,
    // Other storages than Amazon's do not know the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    expectContinueHeader: false,
    maxAttempts: 3,
    requestHandler: handlerOver(ctx, place),
  });
  return { library, client, place, ctx };
}

/** Public objects are asked for without a signature. */
const unsigned = { sign: <Request>(request: Request) => Promise.resolve(request) };

interface WireRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Set by the client from what is really sent. */
const MANAGED = new Set(["host", "content-length", "expect", "connection", "transfer-encoding"]);

/** The library's requests, sent by the one client that keeps to the operator's rules. */
function handlerOver(ctx: CallContext, place: StoragePlace) {
  return {
    metadata: { handlerProtocol: "http/1.1" },
    async handle(request: WireRequest, options: { readonly abortSignal?: AbortSignal } = {}) {
      const response = await ctx.fetch({
        url: addressOf(request),
        method: request.method,
        headers: Object.fromEntries(
          Object.entries(request.headers).filter(([name]) => !MANAGED.has(name.toLowerCase())),
        ),
        body: request.body as string | Uint8Array | undefined,
        configured: place.configured,
        // A storage that moved says so in its answer; a signature is made for one address only.
        followRedirects: false,
        timeoutMs: REQUEST_MS,
        maxBytes: Number.MAX_SAFE_INTEGER,
        signal: options.abortSignal,
      });
      return {
        response: {
          statusCode: response.status,
          reason: response.statusText,
          headers: Object.fromEntries(response.headers),
          body: Readable.from(response.body, { objectMode: false }),
        },
      };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  };
}

function addressOf({ protocol, hostname, port, path, query = {} }: WireRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: string | null) =>
      one === null ? encodeRfc3986(name) : `${encodeRfc3986(name)}=${encodeRfc3986(one)}`,
    ),
  );
  const where = `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}`;
  return pairs.length === 0 ? where : `${where}?${pairs.join("&")}`;
}

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: "There is no such bucket at this storage: check its name and the endpoint.",
  NoSuchKey: "There is no such object: list shows the names there are.",
  NotFound: "There is no such object: list shows the names there are.",
  AccessDenied: "The key may not do this: the operator of the storage has to allow it.",
  InvalidAccessKeyId: "Check the access key: AWS_ACCESS_KEY_ID, or access_key_env of the configured storage.",
  SignatureDoesNotMatch:
    "Check the secret key: AWS_SECRET_ACCESS_KEY, or secret_key_env of the configured storage.",
  PermanentRedirect:
    "The bucket lies in another region: set region of the configured storage, or AWS_REGION.",
};

/** What the library threw, in words that say what to do. */
export function storageFailure(error: unknown, what: string, { endpoint }: StoragePlace): unknown {
  if (ToolError.isInstance(error)) return error;
  const name = errorName(error);
  if (name === "AbortError")
    return new ToolError("The transfer was cancelled.", { code: "cancelled", cause: error });
  // Answers to HEAD have no body that could say more.
  const said = messageOf(error) === "UnknownError" ? "" : messageOf(error);
  const words = said === "" ? name : said.includes(name) ? said : `${said} (${name})`;
  return new ToolError(`${what}: ${words}.`, {
    hint: Object.hasOwn(HINTS, name)
      ? HINTS[name]
      : "Check the endpoint, the bucket and the keys, then try again.",
    details: { code: name },
    from: endpoint,
    cause: error,
  });
}

export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : "";
}
