import { inflateRawSync } from "node:zlib";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const MAX_ENTRIES = 10_000;
/** Documents inflate about tenfold; far more is a bomb. */
const MAX_INFLATED_BYTES = 64 * 1024 * 1024;

/** The named members of a ZIP container, just enough of the format for office documents. */
export function openZip(bytes: Uint8Array): { names: string[]; read(name: string): string | undefined } {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1 || zip.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error("it is no ZIP container");
  const members = new Map<string, { start: number; size: number; method: number }>();
  let position = zip.readUInt32LE(end + 16);
  const count = Math.min(zip.readUInt16LE(end + 10), MAX_ENTRIES);
  for (let index = 0; index < count && zip.readUInt32LE(position) === DIRECTORY_ENTRY; index++) {
    const nameLength = zip.readUInt16LE(position + 28);
    const name = zip.toString("utf8", position + 46, position + 46 + nameLength);
    members.set(name, {
      start: zip.readUInt32LE(position + 42),
      size: zip.readUInt32LE(position + 20),
      method: zip.readUInt16LE(position + 10),
    });
    position += 46 + nameLength + zip.readUInt16LE(position + 30) + zip.readUInt16LE(position + 32);
  }
  let budget = MAX_INFLATED_BYTES;
  return {
    names: [...members.keys()],
    read(name) {
      const member = members.get(name);
      if (member === undefined) return undefined;
      const header = member.start;
      const data = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const stored = zip.subarray(data, data + member.size);
      const inflated = member.method === 0 ? stored : inflateRawSync(stored, { maxOutputLength: budget });
      budget -= inflated.length;
      if (budget <= 0) throw new Error("it inflates to more than is safe");
      return inflated.toString("utf8");
    },
  };
}
