import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS, limitFor, limitsForWindow, previewOf } from "../../src/call/bounds.js";

const limits = DEFAULT_LIMITS;

describe("limitFor", () => {
  it.each([
    ["the default", { isMcp: false }, 100_000],
    ["a lower declared value", { isMcp: false, declared: 10 }, 10],
    ["the default over a higher declared value", { isMcp: false, declared: 500_000 }, 100_000],
    [
      "the default over an unlimited declared value",
      { isMcp: false, declared: Number.POSITIVE_INFINITY },
      100_000,
    ],
    ["the MCP limit over a declared value", { isMcp: true, declared: 10 }, 50_000],
    ["the setting over the MCP limit", { isMcp: true, configured: 70_000 }, 70_000],
    ["the setting over the default, also upwards", { isMcp: false, configured: 300_000 }, 300_000],
    [
      "no limit when pinned, whatever the setting",
      { pinned: true, isMcp: false, configured: 5 },
      Number.POSITIVE_INFINITY,
    ],
    [
      "the default over a setting that is no limit",
      { isMcp: false, configured: Number.NaN, declared: -1 },
      100_000,
    ],
  ])("gives %s", (_what, options, expected) => {
    expect(limitFor({ ...options, limits })).toBe(expected);
  });

  it("a small context window narrows the limits down to a floor", () => {
    expect(limitsForWindow(limits, 1_000_000)).toEqual(limits);
    expect(limitsForWindow(limits, 32_000)).toMatchObject({
      perResult: 19_200,
      perTurn: 38_400,
      mcpResult: 19_200,
    });
    expect(limitsForWindow(limits, 1_000)).toMatchObject({ perResult: 8_000, perTurn: 16_000 });
  });
});

describe("previewOf", () => {
  it("ends at the last whole line", () => {
    expect(previewOf("one\ntwo\nthree", 9)).toBe("one\ntwo");
    expect(previewOf("one\ntwo\nthree", 7)).toBe("one\ntwo");
    expect(previewOf("short", 9)).toBe("short");
  });

  it("cuts a single long line, but never inside a character", () => {
    expect(previewOf("abcdef", 3)).toBe("abc");
    expect(previewOf("ab😀😀", 3)).toBe("ab");
  });

  it("is a beginning, fits, and ends at a line wherever there is one", () => {
    const text = fc
      .array(fc.constantFrom("a", "bc", "\n", "😀", "é"), { maxLength: 60 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.nat(80), (whole, chars) => {
        const preview = previewOf(whole, chars);
        expect(whole.startsWith(preview)).toBe(true);
        expect(preview.length).toBeLessThanOrEqual(chars);
        expect(preview).not.toMatch(/\p{Surrogate}/u);
        const next = whole[preview.length];
        if (next !== undefined && whole.lastIndexOf("\n", chars) > 0) expect(next).toBe("\n");
      }),
    );
  });
});
