import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stripControls, visible, visibleLines, visibleWithColours } from "../../src/base/visible-text.js";

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ..."ab \n\t\r\x1b[31m\x07\x9b\u00a0\u200b\u200d\u202e\u2066\u3164\ufe0f\ufeff\ud800",
      "\u{e0041}",
      "👩‍💻",
      "漢",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

describe("visible text", () => {
  it("of one line holds nothing that is not seen", () => {
    expect(visible("a\u202eb\n\u00a0\u{e0041}")).toBe("a\\u{202e}b\\u{a}\\u{a0}\\u{e0041}");
    fc.assert(
      fc.property(text, (given) => {
        expect(visible(given)).not.toMatch(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u);
      }),
    );
  });

  it("of several lines keeps lines, tabs and emoji, and nothing that steers or reorders", () => {
    expect(visibleLines("one\n\ttwo 👩‍💻")).toBe("one\n\ttwo 👩\\u{200d}💻");
    fc.assert(
      fc.property(text, (given) => {
        expect(visibleLines(given)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });

  it("for a terminal keeps colours and Windows line ends, and no other sequence", () => {
    expect(visibleWithColours("\x1b[1;31mred\x1b[0m\r\n\tnext")).toBe("\x1b[1;31mred\x1b[0m\r\n\tnext");
    expect(visibleWithColours("a\rb\x1b[2Kc\x1b]0;t\x07")).toBe("a\\u{d}b\\u{1b}[2Kc\\u{1b}]0;t\\u{7}");
  });
});

describe("stripControls", () => {
  it("leaves what a reader would see", () => {
    expect(stripControls("\x1b[31mred\x1b[0m \x1b]0;title\x07done")).toBe("red done");
    expect(stripControls("over\rwritten")).toBe("over\nwritten");
    expect(stripControls("i\u200bgno\u202ere")).toBe("ignore");
    expect(stripControls("👩‍💻 ❤️")).toBe("👩‍💻 ❤️");
  });

  it("leaves plain text as it is, and in any other nothing that steers", () => {
    expect(stripControls("plain\n\ttext é")).toBe("plain\n\ttext é");
    fc.assert(
      fc.property(text, (given) => {
        expect(stripControls(given)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });
});
