import type { ReadEntry } from "tar";
import type { RawEntry } from "./read-entries.js";

const TYPES: Readonly<Record<string, RawEntry["type"]>> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "directory",
  GNUDumpDir: "directory",
  SymbolicLink: "link",
  Link: "link",
};

/** The parser works as the bytes arrive: whatever a piece completes is there when it has been taken. */
export async function* tarEntries(tar: {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly keepData: boolean;
}): AsyncGenerator<RawEntry> {
  const { Parser } = await import("tar");
  const complete: RawEntry[] = [];
  const problems: Error[] = [];
  const take = (entry: ReadEntry): void => {
    const parts: Buffer[] = [];
    let size = 0;
    entry.on("data", (part: Buffer) => {
      size += part.length;
      if (tar.keepData) parts.push(part);
    });
    entry.on("end", () => {
      const type = TYPES[entry.type] ?? "device";
      complete.push({
        name: entry.path,
        type,
        mode: entry.mode === undefined ? undefined : entry.mode & 0o777,
        mtimeMs: entry.mtime?.getTime(),
        target: entry.linkpath,
        size,
        ...(tar.keepData && type === "file" && { data: Buffer.concat(parts) }),
      });
    });
  };
  const parser = new Parser({
    strict: true,
    brotli: false,
    zstd: false,
    onReadEntry: take,
  });
  // A kind of entry the parser does not know must be refused, not passed over.
  parser.on("ignoredEntry", take);
  parser.on("error", (error: Error) => problems.push(error));
  const settled = new Promise<void>((resolve) => {
    parser.once("end", resolve);
    parser.once("error", () => resolve());
  });
  let first = true;
  let over = false;
  parser.once("eof", () => {
    over = true;
  });
  for await (const piece of tar.bytes) {
    // The parser would open what is compressed once more, and nobody would count that.
    if (first && piece[0] === 0x1f && piece[1] === 0x8b) throw new Error("it is compressed twice");
    first = false;
    // What follows the end is only counted: the parser would gather it, and copy all of it with each piece.
    if (over) continue;
    parser.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    if (problems[0] !== undefined) throw problems[0];
    yield* complete.splice(0);
  }
  parser.end();
  await settled;
  if (problems[0] !== undefined) throw problems[0];
  yield* complete.splice(0);
}
