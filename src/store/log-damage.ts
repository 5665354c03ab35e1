import { open, readFile, writeFile } from "node:fs/promises";
import { endianness } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Where the write-ahead log stops making sense although commits follow. */
export interface LogDamage {
  /** Position of the first unreadable frame; -1 when the header of the log is unreadable. */
  readonly frame: number;
  readonly commitsAfter: number;
  /** It ends in the middle of a frame. */
  readonly isCut?: boolean;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LITTLE_ENDIAN_MAGIC = 0x377f0682;
const BIG_ENDIAN_MAGIC = 0x377f0683;

/**
 * SQLite ends its recovery of a log at the first bad checksum and silently drops what follows. That is right
 * for a commit cut short by a crash, but acknowledged commits behind a damaged frame vanish the same way.
 * The format is described in section 4 of sqlite.org/fileformat2.html.
 */
export function findLogDamage(log: Uint8Array): LogDamage | undefined {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  if (log.byteLength < HEADER_BYTES + FRAME_HEADER_BYTES) return undefined;
  const magic = view.getUint32(0);
  const pageSize = view.getUint32(8);
  const littleEndian = magic === LITTLE_ENDIAN_MAGIC;
  let sum = addChecksum({ view, from: 0, to: 24, littleEndian }, [0, 0]);
  const known = littleEndian || magic === BIG_ENDIAN_MAGIC;
  if (!known || !equalsStored(view, 24, sum)) return { frame: -1, commitsAfter: 0 };

  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  let damagedFrame: number | undefined;
  let commitsAfter = 0;
  for (let frame = 0; HEADER_BYTES + (frame + 1) * frameBytes <= log.byteLength; frame++) {
    const at = HEADER_BYTES + frame * frameBytes;
    // Frames of an earlier round of the log carry other salts and do not count.
    const ofThisRound =
      view.getUint32(at + 8) === view.getUint32(16) && view.getUint32(at + 12) === view.getUint32(20);
    const isCommit = ofThisRound && view.getUint32(at + 4) !== 0;
    if (damagedFrame === undefined) {
      sum = addChecksum({ view, from: at, to: at + 8, littleEndian }, sum);
      sum = addChecksum({ view, from: at + FRAME_HEADER_BYTES, to: at + frameBytes, littleEndian }, sum);
      if (!ofThisRound || !equalsStored(view, at + 16, sum)) damagedFrame = frame;
    }
    if (damagedFrame !== undefined && isCommit) commitsAfter++;
  }
  if (damagedFrame !== undefined && commitsAfter > 0) return { frame: damagedFrame, commitsAfter };
  const frames = framesIn(log);
  const isWhole = HEADER_BYTES + frames * frameBytes === log.byteLength;
  return isWhole || damagedFrame !== undefined ? undefined : { frame: frames, commitsAfter: 0, isCut: true };
}

function framesIn(log: Uint8Array): number {
  if (log.byteLength < HEADER_BYTES) return 0;
  const pageSize = new DataView(log.buffer, log.byteOffset, log.byteLength).getUint32(8);
  return Math.floor((log.byteLength - HEADER_BYTES) / (FRAME_HEADER_BYTES + pageSize));
}

type Checksum = readonly [number, number];

function addChecksum(
  part: { view: DataView; from: number; to: number; littleEndian: boolean },
  [first, second]: Checksum,
): Checksum {
  let low = first;
  let high = second;
  for (let at = part.from; at < part.to; at += 8) {
    low = (low + part.view.getInt32(at, part.littleEndian) + high) | 0;
    high = (high + part.view.getInt32(at + 4, part.littleEndian) + low) | 0;
  }
  return [low, high];
}

function equalsStored(view: DataView, at: number, [low, high]: Checksum): boolean {
  return view.getInt32(at) === low && view.getInt32(at + 4) === high;
}

/** A log grows this far only while a reader holds it; reading more would delay the start for nothing. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** Before SQLite opens the database and overwrites it: keeps a copy of a damaged log and describes it. */
export async function keepDamagedLog(path: string): Promise<string | undefined> {
  const first = await readLog(`${path}-wal`);
  const damage = first && ((await missingFrames(path, first)) ?? findLogDamage(first));
  if (damage === undefined) return undefined;
  // Another process may have been writing while this one read: real damage stays where it is.
  await sleep(50);
  const log = await readLog(`${path}-wal`);
  if (log === undefined) return undefined;
  const again = (await missingFrames(path, log)) ?? findLogDamage(log);
  if (again?.frame !== damage.frame) return undefined;
  if (damage.frame >= ((await indexOf(path, log))?.published ?? Number.POSITIVE_INFINITY)) return undefined;
  const kept = `${path}-wal.corrupt-${timeForFileNames()}`;
  await writeFile(kept, log, { mode: 0o600 });
  return (
    `The write-ahead log of ${path} is damaged and is kept as ${kept}; ${lostBy(damage)}. ` +
    "After a power failure these are writes that nobody was told had succeeded; otherwise check the disk."
  );
}

function lostBy({ frame, commitsAfter, isCut }: LogDamage): string {
  if (isCut === true) return "it ends too early, and the last commits are gone";
  return `${frame < 0 ? "everything in it" : `the ${commitsAfter} last commits in it`} could not be read`;
}

/** Where the index knows of more frames than the log still has, and they were not in the database yet. */
async function missingFrames(path: string, log: Uint8Array): Promise<LogDamage | undefined> {
  const index = await indexOf(path, log);
  const frame = framesIn(log);
  if (index === undefined || index.published <= frame || index.published <= index.inDatabase)
    return undefined;
  return { frame, commitsAfter: 0, isCut: true };
}

/**
 * How many frames of this log were ever committed, and how many of them are in the database, by the index that SQLite
 * keeps beside it: a process that is killed while it writes leaves half a frame behind, which nobody was told of.
 * Undefined where there is no index of this log.
 */
async function indexOf(
  path: string,
  log: Uint8Array,
): Promise<{ readonly published: number; readonly inDatabase: number } | undefined> {
  const index = await readFile(`${path}-shm`).catch(() => undefined);
  if (index === undefined || index.length < 2 * INDEX_HEADER_BYTES + 4) return undefined;
  const header = index.subarray(0, INDEX_HEADER_BYTES);
  const isWhole = header.equals(index.subarray(INDEX_HEADER_BYTES, 2 * INDEX_HEADER_BYTES));
  const isOfThisLog = log.length < HEADER_BYTES || header.subarray(32, 40).equals(log.subarray(16, 24));
  if (!isWhole || !isOfThisLog) return undefined;
  const numberAt = (at: number) => (endianness() === "LE" ? index.readUInt32LE(at) : index.readUInt32BE(at));
  return { published: numberAt(16), inDatabase: numberAt(2 * INDEX_HEADER_BYTES) };
}
const INDEX_HEADER_BYTES = 48;

async function readLog(path: string): Promise<Uint8Array | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    return size > MAX_LOG_BYTES ? undefined : await file.readFile();
  } finally {
    await file.close();
  }
}

export function timeForFileNames(): string {
  return new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
}
