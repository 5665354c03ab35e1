import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, it } from "vitest";
import { posixPattern } from "../../../src/tools/files/search/posix-pattern.js";
import { bytePattern } from "../../../src/tools/files/search/small-grep.js";

it.each([
  [String.raw`\bfoo\d+`, String.raw`\bfoo[0-9]+`],
  [String.raw`[\w.-]+@\S*`, "[[:alnum:]_.-]+@[^[:space:]]*"],
  ["(?:a|b)*?c", "(a|b)*c"],
  [String.raw`[^\]\-a]`, "[^]a-]"],
  [String.raw`a\.b\(`, String.raw`a\.b\(`],
])("%s becomes %s", (pattern, expected) => {
  expect(posixPattern(pattern)).toBe(expected);
});

it("a range of letters outside ASCII is refused where grep sees bytes; \\1 keeps its meaning", () => {
  expect(() => bytePattern("[à-ü]")).toThrow(/needs ripgrep/);
  expect(() => bytePattern("[^é]")).toThrow(/needs ripgrep/);
  expect(bytePattern(String.raw`(.)\1`)).toBe(String.raw`(.)\1`);
  expect(bytePattern(String.raw`a\.[.b]`)).toBe(String.raw`a\.[.b]`);
});

it("refuses what small greps cannot do", () => {
  for (const pattern of ["foo(?=bar)", "(?i)foo", "(?<!a)b"]) {
    expect(() => posixPattern(pattern)).toThrow(/needs ripgrep/);
  }
});

it("grep -E finds the lines that the original means", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    "1",
    " ",
    "_",
    "-",
    "]",
    ".",
    String.raw`\d`,
    String.raw`\s`,
    String.raw`\w`,
  );
  const atom = fc.oneof(
    part.map((sign) => (sign === "]" || sign === "-" || sign === "." ? `\\${sign}` : sign)),
    fc
      .tuple(fc.constantFrom("", "^"), fc.array(part, { minLength: 1, maxLength: 3 }))
      .map(
        ([not, signs]) => `[${not}${signs.map((sign) => sign.replace(/^[\]-]$/, String.raw`\$&`)).join("")}]`,
      ),
  );
  const piece = fc.tuple(atom, fc.constantFrom("", "*", "+?", "?")).map(([text, many]) => text + many);
  const pattern = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => `^(?:${pieces.join("")})$`);
  const line = fc.string({ unit: fc.constantFrom(..."ab1 _-]."), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(pattern, fc.array(line, { minLength: 5, maxLength: 30 }), (source, lines) => {
      const { stdout } = spawnSync("grep", ["-E", "-e", posixPattern(source)], {
        input: `${lines.join("\n")}\n`,
        encoding: "utf8",
        env: { ...process.env, LC_ALL: "C" },
      });
      expect(stdout.split("\n").filter((text) => text !== "")).toEqual(
        lines.filter((text) => new RegExp(source).test(text)),
      );
    }),
    { numRuns: 30 },
  );
});
