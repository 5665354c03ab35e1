import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";

/** Where objects lie and who may touch them. */
export interface StoragePlace {
  /** Scheme, host and port, no slash at the end. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** The operator named it: it may lie in a private network. */
  readonly configured: boolean;
  /** Absent: what everybody may do. */
  readonly keys?: StorageKeys | undefined;
}

export interface StorageKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface StorageEntry {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly bucket?: string | undefined;
  readonly access_key_env?: string | undefined;
  readonly secret_key_env?: string | undefined;
}

/**
 * A bucket or an endpoint may be the name of a configured storage. Without either it is the one of Amazon; an endpoint
 * that is configured with its address has the keys that belong to it.
 */
export function resolvePlace(
  args: { readonly bucket: string; readonly endpoint?: string | undefined },
  ctx: CallContext,
): StoragePlace {
  const known = entriesOf(ctx.settings.storage);
  const isAddress = args.endpoint?.includes("://") === true;
  const address = isAddress ? originOf(args.endpoint ?? "") : undefined;
  const named = isAddress ? undefined : known.get(args.endpoint ?? args.bucket);
  if (args.endpoint !== undefined && !isAddress && named === undefined)
    throw unknownStorage(args.endpoint, [...known.keys()]);
  const sameAddress = [...known.values()].find(
    ({ endpoint }) => endpoint !== undefined && originOf(endpoint) === address,
  );
  const entry = named ?? (address === undefined ? undefined : sameAddress);
  const usual = textsOf(ctx.settings.s3);
  const region = entry?.region ?? usual.region ?? "us-east-1";
  const amazon = usual.endpoint ? usual.endpoint : `https://s3.${region}.amazonaws.com`;
  return {
    endpoint: address ?? originOf(entry?.endpoint ?? amazon),
    bucket: args.endpoint === undefined && named !== undefined ? (named.bucket ?? args.bucket) : args.bucket,
    region,
    configured: address === undefined || sameAddress !== undefined,
    keys: keysOf(entry, ctx),
  };
}

function entriesOf(storage: unknown): ReadonlyMap<string, StorageEntry> {
  if (typeof storage !== "object" || storage === null) return new Map();
  return new Map(
    Object.entries(storage).flatMap(([name, entry]) =>
      typeof entry === "object" && entry !== null ? [[name, textsOf(entry)] as const] : [],
    ),
  );
}

function textsOf(entry: unknown): StorageEntry {
  if (typeof entry !== "object" || entry === null) return {};
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => typeof value === "string"));
}

/** Keys by the names that the operator gave, else the usual ones; without any, only public objects are reached. */
function keysOf(entry: StorageEntry | undefined, ctx: CallContext): StorageKeys | undefined {
  const names = [
    entry?.access_key_env ?? "AWS_ACCESS_KEY_ID",
    entry?.secret_key_env ?? "AWS_SECRET_ACCESS_KEY",
  ];
  const [accessKeyId = "", secretAccessKey = ""] = names.map((name) => ctx.secrets.get(name));
  const isNamed = entry?.access_key_env !== undefined || entry?.secret_key_env !== undefined;
  if (accessKeyId === "" && secretAccessKey === "" && !isNamed) return undefined;
  if (accessKeyId === "" || secretAccessKey === "")
    throw missingKey(accessKeyId === "" ? names[0] : names[1]);
  const token = isNamed ? undefined : ctx.secrets.get("AWS_SESSION_TOKEN");
  return {
    accessKeyId,
    secretAccessKey,
    ...(token !== undefined && { sessionToken: token }),
  };
}

export function missingKey(name = "AWS_ACCESS_KEY_ID"): ToolError {
  return new ToolError(`The storage wants a key, and ${name} is not set.`, {
    code: "unavailable",
    hint: `Set ${name}=...`,
  });
}

function originOf(endpoint: string): string {
  if (URL.canParse(endpoint)) {
    const { origin, protocol } = new URL(endpoint);
    if (protocol === "https:" || protocol === "http:") return origin;
  }
  throw new ToolError(`${JSON.stringify(endpoint)} is not the address of a storage.`, {
    code: "invalid_arguments",
    hint: "Write it like https://minio.example.org:9000, or name a configured storage.",
  });
}

function unknownStorage(name: string, known: readonly string[]): ToolError {
  return new ToolError(`${JSON.stringify(name)} is no configured storage.`, {
    code: "invalid_arguments",
    hint: `${known.length === 0 ? "None is configured" : `There are ${known.join(", ")}`}; give an address (https://…), or have the operator set storage.${name}.endpoint.`,
  });
}

/** As the address of an object is written in a request. */
export function objectPath(bucket: string, key: string): string {
  return `/${bucket}/${key.split("/").map(encodeRfc3986).join("/")}`;
}

export function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** URLs lose such parts on the way: the request would reach another object than the one that was named. */
export function requireKey(key: string | undefined, action: string): string {
  if (key === undefined || key === "") {
    throw new ToolError(`${action} needs key: the name of the object.`, {
      code: "invalid_arguments",
      hint: "list shows the names there are.",
    });
  }
  if (key.split("/").some((part) => part === "." || part === "..")) {
    throw new ToolError(`The key ${JSON.stringify(key)} has a part . or .., which addresses cannot carry.`, {
      code: "invalid_arguments",
      hint: "Use a key without such parts.",
    });
  }
  return key;
}
