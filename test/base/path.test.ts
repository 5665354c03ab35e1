import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldPath, isAtOrBelow, isBelow } from "../../src/base/path.js";

describe("path containment", () => {
  it("goes by whole segments", () => {
    expect(isAtOrBelow("/a/b", "/a/b")).toBe(true);
    expect(isAtOrBelow("/a/b/c", "/a/b")).toBe(true);
    expect(isAtOrBelow("/a/bc", "/a/b")).toBe(false);
    expect(isAtOrBelow("/a", "/a/b")).toBe(false);
    expect(isBelow("/a/b", "/a/b")).toBe(false);
    expect(isBelow("/a/b/", "/a/b")).toBe(false);
    expect(isBelow("/a/..b", "/a")).toBe(true);
  });

  it("knows the root, of which everything else lies below", () => {
    expect(isBelow("/a", "/")).toBe(true);
    expect(isBelow("/", "/")).toBe(false);
    expect(isAtOrBelow("/", "/")).toBe(true);
    expect(isAtOrBelow("a", "/")).toBe(false);
  });

  it("is not led astray by dots and slashes", () => {
    expect(isAtOrBelow("/a/../etc", "/a")).toBe(false);
    expect(isAtOrBelow("/x/../a/b", "/a")).toBe(true);
    expect(isAtOrBelow("/a//b/.", "/a/./b/")).toBe(true);
    expect(isAtOrBelow("/a/b", "/a/b/..")).toBe(true);
  });

  it("says the same as the path from one to the other, however the two are written", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "ab", "..", ".", "", ".a"), { maxLength: 6 })
      .map((parts) => `/${parts.join("/")}`);
    fc.assert(
      fc.property(path, path, (inner, outer) => {
        const way = posix.relative(outer, inner);
        const leadsIn = way !== ".." && !way.startsWith("../");
        expect(isAtOrBelow(inner, outer)).toBe(leadsIn);
        expect(isBelow(inner, outer)).toBe(leadsIn && way !== "");
      }),
    );
  });
});

describe("foldPath", () => {
  it("gives names that some disk takes for the same file one spelling", () => {
    for (const [one, other] of [
      ["/Users/x/.SSH", "/users/x/.ssh"],
      [".g\u200dit", ".git"],
      ["caf\u00e9", "cafe\u0301"],
      ["ſsh", "ssh"],
      ["straße", "STRASSE"],
      ["ΣΑΣ", "σας"],
    ] as const) {
      expect(foldPath(one)).toBe(foldPath(other));
    }
    expect(foldPath("a")).not.toBe(foldPath("b"));
  });
});
