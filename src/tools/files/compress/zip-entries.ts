import { crc32 } from "node:zlib";
import type { Entry } from "yauzl";
import type { UnpackBudget } from "./limits.js";
import type { RawEntry } from "./read-entries.js";

const FILE_TYPE = 0o170000;
const MADE_ON_UNIX = 3;

export async function* zipEntries(zip: {
  readonly bytes: Uint8Array;
  readonly budget: UnpackBudget;
  readonly content: "skip" | "check" | "keep";
}): AsyncGenerator<RawEntry> {
  const { bytes, budget, content } = zip;
  const { fromBufferPromise, getFileNameLowLevel } = await import("yauzl");
  const container = await fromBufferPromise(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    // Names are taken as they are: they are checked with those of the other formats.
    { lazyEntries: true, autoClose: false, decodeStrings: false },
  );
  for await (const entry of container.eachEntry()) {
    const name = getFileNameLowLevel(
      entry.generalPurposeBitFlag,
      entry.fileNameRaw,
      entry.extraFields,
      false,
    ).replaceAll("\\", "/");
    const type = typeOf(entry, name);
    const facts = { name, type, mode: modeOf(entry), mtimeMs: entry.getLastModDate().getTime() };
    if (type === "directory" || type === "device") {
      yield { ...facts, size: 0 };
      continue;
    }
    if (content === "skip" && type === "file") {
      yield { ...facts, size: entry.uncompressedSize };
      continue;
    }
    if (entry.isEncrypted())
      throw new Error(`its entry ${JSON.stringify(name)} is protected with a password`);
    const data = await entryBytes(await container.openReadStreamPromise(entry), {
      entry,
      budget,
      keep: content === "keep" || type === "link",
    });
    yield {
      ...facts,
      size: data.size,
      ...(type === "link"
        ? { target: data.bytes.toString("utf8") }
        : content === "keep" && { data: data.bytes }),
    };
  }
}

async function entryBytes(
  stream: AsyncIterable<unknown>,
  options: { readonly entry: Entry; readonly budget: UnpackBudget; readonly keep: boolean },
): Promise<{ readonly size: number; readonly bytes: Buffer }> {
  const { entry, budget, keep } = options;
  const parts: Buffer[] = [];
  let size = 0;
  let checksum = 0;
  for await (const part of stream) {
    const piece = part as Buffer;
    size += piece.length;
    budget.addBytes(piece.length);
    checksum = crc32(piece, checksum);
    if (keep) parts.push(piece);
  }
  // The reader checks sizes only.
  if (checksum !== entry.crc32) throw new Error("the checksum of an entry does not fit");
  return { size, bytes: Buffer.concat(parts) };
}

function unixMode(entry: Entry): number | undefined {
  return entry.versionMadeBy >>> 8 === MADE_ON_UNIX ? entry.externalFileAttributes >>> 16 : undefined;
}

function modeOf(entry: Entry): number | undefined {
  const mode = unixMode(entry);
  return mode === undefined || mode === 0 ? undefined : mode & 0o777;
}

function typeOf(entry: Entry, name: string): RawEntry["type"] {
  switch ((unixMode(entry) ?? 0) & FILE_TYPE) {
    case 0o120000:
      return "link";
    case 0o040000:
      return "directory";
    case 0o100000:
    case 0:
      return name.endsWith("/") ? "directory" : "file";
    default:
      return "device";
  }
}
