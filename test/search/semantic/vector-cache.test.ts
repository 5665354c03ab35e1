import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { VectorCache } from "../../../src/search/semantic/vector-cache.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-vectors-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function openCache(path: string, model = "m") {
  return new VectorCache({ path, model, dimensions: 8 });
}

function newPath(): string {
  files += 1;
  return join(folder, `cache-${files}.bin`);
}

const vector = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 });
const entry = fc.record({ text: fc.string(), vector: vector.map((values) => Float32Array.from(values)) });
const entries = fc.uniqueArray(entry, { selector: ({ text }) => text, maxLength: 12 });

function closeTo(found: Float32Array | undefined, wanted: Float32Array): boolean {
  const largest = Math.max(...wanted.map(Math.abs), 1e-20);
  return (
    found !== undefined && wanted.every((value, at) => Math.abs(value - (found[at] ?? 9)) <= largest / 200)
  );
}

describe("the vector cache", () => {
  it("gives back what was put in, to the next process too", async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (list) => {
        const path = newPath();
        const writer = openCache(path);
        await writer.load();
        await writer.add(list);
        const reader = openCache(path);
        await reader.load();
        for (const { text, vector } of list) {
          expect(closeTo(writer.get(text), vector)).toBe(true);
          expect(reader.get(text)).toEqual(writer.get(text));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("never gives a damaged vector, and mends its file", async () => {
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 5 }),
        fc.nat(40),
        async (list, flips, cut) => {
          const path = newPath();
          const writer = openCache(path);
          await writer.add(list);
          const bytes = readFileSync(path);
          for (const [place, change] of flips)
            if (bytes.length > 0) {
              const at = place % bytes.length;
              bytes[at] = (bytes[at] ?? 0) ^ change;
            }
          writeFileSync(path, bytes.subarray(0, Math.max(0, bytes.length - cut)));
          const reader = openCache(path);
          await reader.load();
          for (const { text } of list) {
            const found = reader.get(text);
            if (found !== undefined) expect(found).toEqual(writer.get(text));
          }
          expect(statSync(path).size % 32).toBe(0);
          await reader.add(list);
          const again = openCache(path);
          await again.load();
          for (const { text } of list) expect(again.get(text)).toEqual(writer.get(text));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("loses nothing when several write at once", async () => {
    const path = newPath();
    const lists = Array.from({ length: 8 }, (_, writer) =>
      Array.from({ length: 50 }, (_, at) => ({
        text: `${writer} ${at}`,
        vector: Float32Array.from({ length: 8 }, (_, place) => Math.sin(writer * 100 + at + place)),
      })),
    );
    await Promise.all(lists.map((list) => openCache(path).add(list)));
    const reader = openCache(path);
    await reader.load();
    for (const { text, vector } of lists.flat()) expect(closeTo(reader.get(text), vector)).toBe(true);
  });

  it("keeps what is added while it reads its file", async () => {
    const cache = openCache(newPath());
    const reading = cache.load();
    await cache.add([{ text: "x", vector: new Float32Array(8).fill(0.5) }]);
    await reading;
    expect(cache.get("x")?.[0]).toBeCloseTo(0.5);
  });

  it("keeps the vectors of two models apart", async () => {
    const path = newPath();
    await openCache(path, "one").add([{ text: "x", vector: new Float32Array(8).fill(0.5) }]);
    const other = openCache(path, "two");
    await other.load();
    expect(other.get("x")).toBeUndefined();
  });

  it("lives on without a file it may write", async () => {
    const path = join(folder, "a-file");
    writeFileSync(path, "");
    const cache = openCache(join(path, "below", "a", "file.bin"));
    await cache.load();
    await cache.add([{ text: "x", vector: new Float32Array(8).fill(0.5) }]);
    expect(cache.get("x")?.[0]).toBeCloseTo(0.5);
  });
});
