import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputWindow } from "../../src/env/output-window.js";

/** Half of a surrogate pair does not survive encoding. */
const wellFormed = (text: string) => Buffer.from(text).toString();
const chunked = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 40 });

function fill(window: OutputWindow, chunks: readonly Uint8Array[]): string {
  return chunks.map((chunk) => window.push(chunk)).join("");
}

describe("an output window", () => {
  test("keeps everything that fits, however it was cut into chunks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.nat(7), (text, size) => {
        const window = new OutputWindow(10_000);
        const bytes = Buffer.from(wellFormed(text));
        const chunks = Array.from({ length: Math.ceil(bytes.length / (size + 1)) }, (_, index) =>
          bytes.subarray(index * (size + 1), (index + 1) * (size + 1)),
        );
        fill(window, chunks);
        expect(window.finish()).toMatchObject({ text: wellFormed(text), truncated: false });
      }),
    );
  });

  test("keeps 40 % of the beginning and 60 % of the end, and counts the rest", () => {
    const window = new OutputWindow(100);
    window.push(Buffer.from("a".repeat(500) + "b".repeat(500)));
    const { text, truncated, totalBytes } = window.finish();
    expect(text).toBe(`${"a".repeat(40)}\n[... 900 of 1000 characters omitted ...]\n${"b".repeat(60)}`);
    expect([truncated, totalBytes]).toEqual([true, 1000]);
  });

  test("is never longer than its limit plus the notice, and never splits a character", () => {
    fc.assert(
      fc.property(chunked, fc.integer({ min: 1, max: 60 }), (chunks, limit) => {
        const window = new OutputWindow(limit);
        fill(window, chunks);
        const content = window.finish();
        const kept = content.text.replace(
          /\n\[\.\.\. \d+ of \d+ (?:characters|bytes) omitted \.\.\.\]\n/,
          "",
        );
        expect(kept.length).toBeLessThanOrEqual(limit);
        expect(kept).toBe(wellFormed(kept));
        expect(content.totalBytes).toBe(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
        expect(content.truncated).toBe(Buffer.concat(chunks).toString().length > limit);
      }),
    );
  });

  test("holds what decoding everything and cutting would have given", () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 200 }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.nat(400).map((length) => new Uint8Array(length).fill(0x61)),
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 30 }), fc.integer({ min: 1, max: 60 }), (chunks, limit) => {
        const window = new OutputWindow(limit);
        for (const bytes of chunks) window.add(bytes);
        const { text, truncated } = window.finish();
        const whole = Buffer.concat(chunks).toString();
        if (!truncated) {
          expect(text).toBe(whole);
          return;
        }
        const [head = "", tail = ""] = text.split(/\n\[\.\.\. \d+ of \d+ \w+ omitted \.\.\.\]\n/);
        const headChars = Math.floor(limit * 0.4);
        expect([headChars, headChars - 1]).toContain(head.length);
        expect([limit - headChars, limit - headChars - 1]).toContain(tail.length);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("tells in bytes what it left out of a long text that is not ASCII", () => {
    const window = new OutputWindow(100);
    for (let line = 0; line < 1_000; line += 1) window.add(Buffer.from("✓ ok\n"));
    const lines = "✓ ok\n".repeat(20);
    expect(window.finish()).toEqual({
      text: `${lines.slice(0, 40)}\n[... ${7_000 - 40 - 60 - 2 * 20} of 7000 bytes omitted ...]\n${lines.slice(-60)}`,
      truncated: true,
      totalBytes: 7_000,
    });
  });

  test("does not cut an emoji in half at either edge", () => {
    const window = new OutputWindow(10);
    window.push(Buffer.from(`x${"😀".repeat(50)}y`));
    const { text } = window.finish();
    expect(text).toBe(wellFormed(text));
  });

  test("gives decoded text back as it completes", () => {
    const window = new OutputWindow();
    expect([window.push(Buffer.from([0xe2, 0x82])), window.push(Buffer.from([0xac]))]).toEqual(["", "€"]);
  });

  test("holds the same whether the text of the chunks was wanted or not", () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 50 }),
      fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.nat(200).map((length) => new Uint8Array(length).fill(0x61)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(chunk, fc.boolean()), { maxLength: 40 }),
        fc.integer({ min: 1, max: 90 }),
        (chunks, limit) => {
          const told = new OutputWindow(limit);
          const silent = new OutputWindow(limit);
          const shared = new Uint8Array(1_000);
          for (const [bytes, wanted] of chunks) {
            told.push(bytes);
            shared.set(bytes);
            if (wanted) silent.push(bytes);
            else silent.add(shared.subarray(0, bytes.length));
            shared.fill(0x3f);
          }
          expect(silent.finish()).toEqual(told.finish());
        },
      ),
      { numRuns: 500 },
    );
  });

  test("without a limit keeps all", () => {
    const window = new OutputWindow(Number.POSITIVE_INFINITY);
    window.push(Buffer.alloc(200_000, "x"));
    expect(window.finish()).toMatchObject({ truncated: false, totalBytes: 200_000 });
  });
});
