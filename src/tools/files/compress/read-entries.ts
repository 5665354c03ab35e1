import type { CallContext } from "../../../tool/tool.js";
import { decompressStream } from "./compression.js";
import { EntryNames } from "./entry-names.js";
import { compressionOf, type Format, isTar } from "./formats.js";
import { damaged, refusal, type UnpackBudget } from "./limits.js";
import { tarEntries } from "./tar-entries.js";
import { zipEntries } from "./zip-entries.js";

/** One entry as the archive has it, nothing of it checked. */
export interface RawEntry {
  readonly name: string;
  readonly type: "file" | "directory" | "link" | "device";
  readonly mode: number | undefined;
  readonly mtimeMs: number | undefined;
  /** Where a link leads. */
  readonly target?: string | undefined;
  readonly size: number;
  /** What a file holds; only when it was asked for. */
  readonly data?: Uint8Array | undefined;
}

export interface Archive {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly format: Format;
  /** What the only file of a gz or zst is called. */
  readonly soleName: string;
}

export interface Entry extends RawEntry {
  readonly type: "file" | "directory" | "link";
  /** Checked: relative, without `..`, unlike every other. */
  readonly name: string;
}

export interface Reading {
  readonly archive: Archive;
  readonly budget: UnpackBudget;
  /** What to do with the content of files: pass it over where that is possible, check it, or hand it over. */
  readonly content: "skip" | "check" | "keep";
  readonly ctx: CallContext;
}

/** All entries in order. A name or a kind that must not be unpacked ends it with a refusal. */
export async function* safeEntries(reading: Reading): AsyncGenerator<Entry> {
  const { archive } = reading;
  const names = new EntryNames(archive.path);
  for await (const entry of rawEntries(reading)) {
    if (entry.type === "device") {
      throw refusal(archive.path, `its entry ${JSON.stringify(entry.name)} is a device or pipe`);
    }
    const name = names.add(entry.name, entry.type === "directory");
    if (name !== "") yield { ...entry, type: entry.type, name };
  }
}

export async function* rawEntries(reading: Reading): AsyncGenerator<RawEntry> {
  const { archive, budget, content, ctx } = reading;
  try {
    if (archive.format === "zip") {
      yield* counted(zipEntries({ bytes: archive.bytes, budget, content }), reading);
      return;
    }
    const unpacked = countedBytes(
      decompressStream(compressionOf(archive.format), { bytes: pieces(archive.bytes), ctx }),
      reading,
    );
    if (isTar(archive.format))
      yield* counted(tarEntries({ bytes: unpacked, keepData: content === "keep" }), reading);
    else yield await soleFile(unpacked, reading);
  } catch (error) {
    ctx.signal.throwIfAborted();
    throw damaged(archive.path, error);
  }
}

async function* counted(
  entries: AsyncIterable<RawEntry>,
  { budget, ctx }: Reading,
): AsyncGenerator<RawEntry> {
  for await (const entry of entries) {
    ctx.signal.throwIfAborted();
    budget.addEntry();
    yield entry;
  }
}

async function* countedBytes(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { budget, ctx }: Reading,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    ctx.signal.throwIfAborted();
    budget.addBytes(piece.length);
    yield piece;
  }
}

async function soleFile(bytes: AsyncIterable<Uint8Array>, reading: Reading): Promise<RawEntry> {
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (reading.content === "keep") kept.push(piece);
  }
  return {
    name: reading.archive.soleName,
    type: "file",
    mode: undefined,
    mtimeMs: undefined,
    size,
    ...(reading.content === "keep" && { data: Buffer.concat(kept) }),
  };
}

const PIECE_BYTES = 1024 * 1024;

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
