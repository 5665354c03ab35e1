import { ToolError } from "../../../tool/errors.js";

export const FORMATS = ["zip", "tar", "tar.gz", "tar.zst", "gz", "zst"] as const;
export type Format = (typeof FORMATS)[number];

/** How an archive's bytes are compressed, apart from what is in them. */
export type Compression = "gzip" | "zstd" | undefined;

const BY_NAME: readonly (readonly [ending: RegExp, format: Format])[] = [
  [/\.(?:tar\.gz|tgz)$/i, "tar.gz"],
  [/\.(?:tar\.zst|tzst)$/i, "tar.zst"],
  [/\.tar$/i, "tar"],
  [/\.(?:zip|jar|war|whl|apk|epub|docx|xlsx|pptx|odt|ods|odp)$/i, "zip"],
  [/\.gz$/i, "gz"],
  [/\.(?:zst|zstd)$/i, "zst"],
];

export function formatByName(path: string): Format | undefined {
  return BY_NAME.find(([ending]) => ending.test(path))?.[1];
}

/** The name without what says that it is an archive. */
export function withoutEnding(path: string): string {
  const ending = BY_NAME.find(([pattern]) => pattern.test(path))?.[0];
  return ending === undefined ? `${path}.unpacked` : path.replace(ending, "");
}

export function isTar(format: Format): boolean {
  return format.startsWith("tar");
}

export function compressionOf(format: Format): Compression {
  if (format === "gz" || format === "tar.gz") return "gzip";
  return format === "zst" || format === "tar.zst" ? "zstd" : undefined;
}

const BLOCK = 512;

/** What the first bytes show: they outrank the name. `inside` gives the first bytes of what is compressed. */
export async function formatOfBytes(
  archive: Uint8Array,
  options: {
    readonly path: string;
    inside(compression: "gzip" | "zstd", bytes: number): Promise<Uint8Array>;
  },
): Promise<Format> {
  const head = Buffer.from(archive.subarray(0, BLOCK));
  // An empty archive is only zeros, and so are many files that are none: there the name decides.
  const named = formatByName(options.path);
  const holdsTar = (first: Uint8Array) =>
    isTarHeader(first) || (named !== undefined && isTar(named) && isZeros(first));
  const magic = head.toString("latin1", 0, 4);
  if (magic === "PK\x03\x04" || magic === "PK\x05\x06") return "zip";
  if (magic.startsWith("\x1f\x8b")) {
    return holdsTar(await options.inside("gzip", BLOCK)) ? "tar.gz" : "gz";
  }
  if (magic === "\x28\xb5\x2f\xfd") return holdsTar(await options.inside("zstd", BLOCK)) ? "tar.zst" : "zst";
  if (holdsTar(head)) return "tar";
  // A program with an archive at its end is one, too.
  if (named === "zip") return "zip";
  throw new ToolError(`${options.path} is not an archive that can be unpacked here.`, {
    code: "failed",
    hint: "zip, tar, gz and zst can; for others (7z, rar, xz, bz2) use a program in the terminal.",
    details: { path: options.path },
  });
}

function isZeros(head: Uint8Array): boolean {
  return head.length === BLOCK && head.every((byte) => byte === 0);
}

/** A header's checksum is counted with blanks in its own place. */
function isTarHeader(head: Uint8Array): boolean {
  if (head.length < BLOCK) return false;
  const claimed = Number.parseInt(Buffer.from(head.subarray(148, 156)).toString("latin1").trim(), 8);
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return claimed === sum;
}
