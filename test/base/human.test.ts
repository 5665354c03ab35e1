import { expect, it } from "vitest";
import { ageText, sizeText, tookText } from "../../src/base/human.js";

it("durations are as exact as a person wants them", () => {
  expect([0, 350.4, 999, 1_000, 12_345].map(tookText)).toEqual([
    "0 ms",
    "350 ms",
    "999 ms",
    "1.0 s",
    "12.3 s",
  ]);
  expect([-5, 0, 119_400, 119_600, 7_199_000, 7_200_000, 86_400_000].map(ageText)).toEqual([
    "0 s",
    "0 s",
    "119 s",
    "2 min",
    "120 min",
    "2 h",
    "24 h",
  ]);
});

it("sizes are counted as their reader counts", () => {
  expect([0, 999, 1_000, 1_536, 2_500_000, 3e15].map((bytes) => sizeText(bytes, "decimal"))).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "1.5 kB",
    "2.5 MB",
    "3.0 PB",
  ]);
  expect([1_023, 1_536, 1_048_576].map((bytes) => sizeText(bytes, "binary"))).toEqual([
    "1023 B",
    "1.5 KB",
    "1.0 MB",
  ]);
  expect([7, 1_536, 20_480, 1_048_576].map((bytes) => sizeText(bytes, "short"))).toEqual([
    "7B",
    "1.5K",
    "20K",
    "1.0M",
  ]);
});
