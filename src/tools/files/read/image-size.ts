export interface ImageFacts {
  readonly mimeType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly width: number;
  readonly height: number;
}

/** What a picture's first bytes say of it; undefined when they are none that models take, or are damaged. */
export function imageFacts(head: Uint8Array): ImageFacts | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  try {
    const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function pngSize(bytes: Buffer): ImageFacts | undefined {
  if (bytes.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n" || bytes.toString("latin1", 12, 16) !== "IHDR") {
    return undefined;
  }
  return { mimeType: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): ImageFacts | undefined {
  if (!/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) return undefined;
  return { mimeType: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webpSize(bytes: Buffer): ImageFacts | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP")
    return undefined;
  const mimeType = "image/webp";
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { mimeType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { mimeType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { mimeType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

/** Frame headers hold the size; these three numbers of the range mean something else. */
const NOT_FRAMES = new Set([0xc4, 0xc8, 0xcc]);

function jpegSize(bytes: Buffer): ImageFacts | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && !NOT_FRAMES.has(marker)) {
      return {
        mimeType: "image/jpeg",
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
      };
    }
    const alone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += alone ? 2 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
