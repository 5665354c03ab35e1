import { isUtf8 } from "node:buffer";
import { ToolError } from "../../tool/errors.js";

/** How a file's bytes spell text. Edits are written back in the same spelling. */
export interface TextEncoding {
  readonly name: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "latin1";
  readonly bom: boolean;
}

export const UTF8: TextEncoding = { name: "utf-8", bom: false };

const BOMS = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
} as const;

/** Bytes that windows-1252 leaves undefined; with one of them only latin1 survives a round trip. */
const UNDEFINED_IN_1252 = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
const SNIFFED_BYTES = 8192;

/** The encoding that the first bytes suggest; undefined when they are not text. */
export function detectEncoding(head: Uint8Array): TextEncoding | undefined {
  for (const name of ["utf-8", "utf-16le", "utf-16be"] as const) {
    if (BOMS[name].every((byte, index) => head[index] === byte)) return { name, bom: true };
  }
  const sample = head.subarray(0, SNIFFED_BYTES);
  if (sample.includes(0)) return utf16WithoutBom(sample);
  if (controlShare(sample) > 0.1) return undefined;
  if (isUtf8(withoutCutTail(head))) return UTF8;
  return {
    name: UNDEFINED_IN_1252.some((byte) => head.includes(byte)) ? "latin1" : "windows-1252",
    bom: false,
  };
}

export async function decodeText(bytes: Uint8Array, encoding: TextEncoding): Promise<string> {
  const body = encoding.bom ? bytes.subarray(bomOf(encoding).length) : bytes;
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (encoding.name === "utf-8") return buffer.toString("utf8");
  if (encoding.name === "utf-16le") return buffer.toString("utf16le");
  if (encoding.name === "latin1") return buffer.toString("latin1");
  const { default: iconv } = await import("iconv-lite");
  return iconv.decode(buffer, encoding.name, { stripBOM: false });
}

export async function encodeText(text: string, encoding: TextEncoding): Promise<Uint8Array> {
  const body = await encodeBody(text, encoding);
  return encoding.bom ? Buffer.concat([Uint8Array.from(bomOf(encoding)), body]) : body;
}

/** Half of a surrogate pair has no UTF-8 form: writing it would silently store another character. */
export function refuseBrokenUnicode(text: string, argument: string): void {
  if (/\p{Surrogate}/u.test(text)) {
    throw new ToolError(`${argument} holds half of a surrogate pair, which cannot be written as UTF-8.`, {
      code: "invalid_arguments",
      hint: "Send the whole character (for example an emoji) or leave it out.",
    });
  }
}

async function encodeBody(text: string, encoding: TextEncoding): Promise<Buffer> {
  if (encoding.name === "utf-8") {
    refuseBrokenUnicode(text, "The new text");
    return Buffer.from(text, "utf8");
  }
  if (encoding.name === "utf-16le") return Buffer.from(text, "utf16le");
  const { default: iconv } = await import("iconv-lite");
  const encoded =
    encoding.name === "latin1" ? Buffer.from(text, "latin1") : iconv.encode(text, encoding.name);
  const back = encoding.name === "latin1" ? encoded.toString("latin1") : iconv.decode(encoded, encoding.name);
  if (back !== text) {
    throw new ToolError(
      `The file is ${encoding.name} text and the new text holds characters it cannot spell.`,
      {
        code: "invalid_arguments",
        hint: `Use only ${encoding.name} characters, or rewrite the whole file as UTF-8 with write_file.`,
      },
    );
  }
  return encoded;
}

function bomOf(encoding: TextEncoding): readonly number[] {
  return encoding.name === "utf-8" || encoding.name === "utf-16le" || encoding.name === "utf-16be"
    ? BOMS[encoding.name]
    : [];
}

/** Western text in UTF-16 has a zero in nearly every second byte, always on the same side. */
function utf16WithoutBom(sample: Uint8Array): TextEncoding | undefined {
  const pairs = Math.floor(sample.length / 2);
  if (pairs < 4) return undefined;
  const zeros = [0, 0];
  for (let index = 0; index < pairs * 2; index++) {
    if (sample[index] === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  }
  const [first = 0, second = 0] = zeros;
  if (second > pairs * 0.7 && first === 0) return { name: "utf-16le", bom: false };
  if (first > pairs * 0.7 && second === 0) return { name: "utf-16be", bom: false };
  return undefined;
}

function controlShare(sample: Uint8Array): number {
  let controls = 0;
  for (const byte of sample) {
    const usual = byte === 9 || byte === 10 || byte === 12 || byte === 13 || byte === 27 || byte === 8;
    if (byte < 32 && !usual) controls++;
  }
  return sample.length === 0 ? 0 : controls / sample.length;
}

/** A sample may end inside a character; that is no sign of another encoding. */
function withoutCutTail(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return bytes.subarray(0, bytes.length - back);
    if (byte < 0x80) break;
  }
  return bytes;
}
