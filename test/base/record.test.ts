import { expect, it } from "vitest";
import { isRecord } from "../../src/base/record.js";

it("a record has named fields", () => {
  expect([{}, { a: 1 }, Object.create(null), new Error("x")].map(isRecord)).toEqual([true, true, true, true]);
  expect([null, undefined, [], "text", 1, () => {}].some(isRecord)).toBe(false);
});
