import { type BinaryToTextEncoding, hash } from "node:crypto";

/** The SHA-256 of a text (as UTF-8) or of bytes. */
export function sha256(
  data: string | NodeJS.ArrayBufferView,
  encoding: BinaryToTextEncoding = "hex",
): string {
  return hash("sha256", data, encoding);
}
