import { contentHash, readConfirmed } from "./confirmed-files.js";

/** What the file was when it could last be read, and what it is now. */
export interface TextChange {
  readonly home: string;
  readonly path: string;
  readonly bytes: Buffer;
  readonly good: string | undefined;
}

export interface TextDamage {
  /** "surely": nobody edits like this, and the last good version stays in force. "perhaps": it is worth a word. */
  readonly certainty: "surely" | "perhaps";
  readonly message: string;
  readonly line: number;
}

/** A change that a person hardly ever makes, but a broken disk or a program that was cut short does. */
export async function damageIn({ home, path, bytes, good }: TextChange): Promise<TextDamage | undefined> {
  if (good === undefined || good.trim() === "") return undefined;
  const before = Buffer.from(good);
  const damage = cutOff(bytes, before) ?? flippedBit(bytes, before);
  if (damage === undefined) return undefined;
  // What a person's own command has written is what they meant.
  return (await readConfirmed(home)).get(path) === contentHash(bytes) ? undefined : damage;
}

function cutOff(bytes: Buffer, before: Buffer): TextDamage | undefined {
  if (bytes.toString("latin1").trim() === "")
    return {
      certainty: "surely",
      message: "the file is empty, but it held something before (half-written?)",
      line: 1,
    };
  if (bytes.length >= before.length || !before.subarray(0, bytes.length).equals(bytes)) return undefined;
  const line = lineAt(bytes, bytes.length);
  const gone = before.subarray(bytes.length).toString("utf8");
  if (bytes.at(-1) !== 10 && before.at(-1) === 10)
    return { certainty: "surely", message: "the file ends in the middle of a line (half-written?)", line };
  if (gone.trim() === "") return undefined;
  const lines = gone.trimEnd().split("\n").length;
  return {
    certainty: "perhaps",
    message: `the last ${lines === 1 ? "line" : `${lines} lines`} that this file held before ${lines === 1 ? "is" : "are"} gone, from ${JSON.stringify(gone.trim().slice(0, 60))} on (cut off?)`,
    line,
  };
}

function flippedBit(bytes: Buffer, before: Buffer): TextDamage | undefined {
  if (bytes.length !== before.length) return undefined;
  const at = bytes.findIndex((byte, index) => byte !== before[index]);
  const [now = 0, then = 0] = [bytes[at], before[at]];
  if (at < 0 || !bytes.subarray(at + 1).equals(before.subarray(at + 1))) return undefined;
  // One number in the place of another is what people do change.
  if (!isOneBit(now ^ then) || (isDigit(now) && isDigit(then))) return undefined;
  const line = lineAt(bytes, at);
  return {
    certainty: "surely",
    message: `one bit in line ${line} is not what it was (a fault of the disk?)`,
    line,
  };
}

const isOneBit = (bits: number) => bits !== 0 && (bits & (bits - 1)) === 0;
const isDigit = (byte: number) => byte >= 48 && byte <= 57;

function lineAt(bytes: Buffer, end: number): number {
  return bytes.subarray(0, end).toString("latin1").split("\n").length;
}
