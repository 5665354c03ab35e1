import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputRing } from "../../src/env/processes/output-ring.js";

describe("the kept output of a process", () => {
  it("is the end of everything it printed, however the bytes were cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        (texts, cut) => {
          const whole = texts.join("").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ".");
          const ring = new OutputRing();
          const bytes = Buffer.from(whole);
          for (let at = 0; at < bytes.length; at += cut) ring.push(bytes.subarray(at, at + cut));
          expect(ring.text()).toBe(whole);
          expect(ring.dropped).toBe(false);
          expect(ring.totalBytes).toBe(bytes.length);
          const tail = ring.tail(10);
          expect(whole.endsWith(tail)).toBe(true);
          expect(tail.length).toBeLessThanOrEqual(10);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("is as many characters as it should be, and memory is not much more, whatever they are", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("x", "é", "漢", "😀"),
        fc.integer({ min: 1, max: 400_000 }),
        fc.integer({ min: 1_000, max: 40_000 }),
        (character, count, keep) => {
          const ring = new OutputRing(keep);
          const chunk = Buffer.from(character.repeat(1_000));
          for (let written = 0; written < count; written += 1_000) ring.push(chunk);
          const kept = ring.text();
          const total = Math.ceil(count / 1_000) * 1_000 * character.length;
          // A pair is not cut in two.
          expect(kept.length).toBeGreaterThanOrEqual(Math.min(total, keep) - (character.length - 1));
          expect(kept.length).toBeLessThanOrEqual(keep);
          const mostBytes = (keep * Buffer.byteLength(character)) / character.length + 2 * 16_384;
          expect(ring.bytes().length).toBeLessThanOrEqual(mostBytes);
          expect(kept.replaceAll(character, "")).toBe("");
          expect(ring.dropped).toBe(kept.length < total);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("does not keep the buffers it was given", () => {
    const ring = new OutputRing();
    const chunk = Buffer.from("before");
    ring.push(chunk);
    chunk.fill("x");
    expect(ring.text()).toBe("before");
  });

  it("is read without colours and with plain line ends", () => {
    const ring = new OutputRing();
    ring.push(Buffer.from("\u001b[31mred\u001b[0m\r\nnext\r\n"));
    expect(ring.text()).toBe("red\nnext\n");
    expect(ring.tail(5)).toBe("next\n");
  });

  it("shows invalid bytes as such", () => {
    const ring = new OutputRing();
    ring.push(Buffer.from([0x61, 0xff, 0x62]));
    expect(ring.text()).toBe("a\ufffdb");
  });
});
