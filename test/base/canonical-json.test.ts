import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "../../src/base/canonical-json.js";

it("is the same text whatever order the keys were written in, at any depth", () => {
  expect(canonicalJson({ b: [{ d: 1, c: "x" }], a: null })).toBe('{"a":null,"b":[{"c":"x","d":1}]}');
  const reversed = (value: unknown): unknown =>
    typeof value !== "object" || value === null
      ? value
      : Array.isArray(value)
        ? value.map(reversed)
        : Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, inner]) => [key, reversed(inner)]),
          );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("tells different values apart, and has a text for what JSON has none for", () => {
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  expect(canonicalJson(undefined)).toBe("null");
});
