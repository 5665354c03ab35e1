import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256 } from "../../src/base/hash.js";

it("the hash of a text is the hash of its UTF-8 bytes", () => {
  expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(sha256(text)).toBe(sha256(Buffer.from(text)));
      expect(sha256(text, "base64url")).toBe(createHash("sha256").update(text).digest("base64url"));
    }),
  );
});
