import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, it } from "vitest";
import { quoteForShell, quoteIfNeeded } from "../../src/base/quote.js";

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(..."ab '\"\\$`!*?~=+[]{}()<>|&;#\n\t%@:,./-") }),
  fc.constantFrom("", "A=1", "A+=1", "=ls", "~", "~root", "-n", "--option=value", "{a,b}", "if", "#"),
);

it("sh reads exactly the words that were quoted", () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (given) => {
      const words = given.map((word) => word.replaceAll("\0", "").toWellFormed());
      for (const quote of [quoteForShell, quoteIfNeeded]) {
        const script = `f() { printf '%s\\0' "$@"; }; ${words.map((word) => `f ${quote(word)};`).join(" ")}`;
        expect(execFileSync("sh", ["-c", script], { encoding: "utf8" })).toBe(
          words.map((word) => `${word}\0`).join(""),
        );
      }
    }),
    { numRuns: 60 },
  );
});

it("what needs no quotes gets none", () => {
  expect(["src/a.ts", "--option=value", "user@host:22"].map(quoteIfNeeded)).toEqual([
    "src/a.ts",
    "--option=value",
    "user@host:22",
  ]);
});

it("a word that would be an assignment or another program is quoted", () => {
  expect(["A=1", "A+=1", "=ls", "", "~"].map(quoteIfNeeded)).toEqual([
    "'A=1'",
    "'A+=1'",
    "'=ls'",
    "''",
    "'~'",
  ]);
});
