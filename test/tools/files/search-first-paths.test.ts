import fc from "fast-check";
import { expect, it } from "vitest";
import { FirstPaths } from "../../../src/tools/files/search/names.js";

const MOST_HELD = 20_000;

it("a few thousand are all kept, in the order they came", () => {
  const found = new FirstPaths(3);
  const paths = ["c", "a", "b", "d"];
  for (const path of paths) found.add(path);
  expect(found.all).toEqual(paths);
  expect(found.first).toEqual(["a", "b", "c"]);
});

it("of more only the first in order of path, whatever order they came in", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 1, max: 400 }), (wanted, step) => {
      const count = MOST_HELD + 100;
      const paths = Array.from({ length: count }, (_, at) => `d${(at * (2 * step + 1)) % 97}/f${at}`);
      const found = new FirstPaths(wanted);
      for (const path of paths) found.add(path);
      expect(found.all).toBeUndefined();
      expect(found.count).toBe(count);
      expect(found.first).toEqual(paths.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, wanted));
    }),
    { numRuns: 8 },
  );
});
