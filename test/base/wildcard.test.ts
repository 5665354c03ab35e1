import fc from "fast-check";
import { expect, it } from "vitest";
import { readTokens, tokensMatch, wildcardMatches } from "../../src/base/wildcard.js";

it.each([
  ["*", "anything", true],
  ["git *", "git push", true],
  ["git *", "git", false],
  ["a?c", "abc", true],
  ["a?c", "a😀c", true],
  ["a?c", "ac", false],
  ["[a]", "a", false],
  ["[a]", "[a]", true],
  ["a.c", "abc", false],
  ["", "", true],
])("%s takes %s: %s", (pattern, text, expected) => {
  expect(wildcardMatches(pattern, text)).toBe(expected);
});

it("says the same as the regular expression of the pattern", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  const plain = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  fc.assert(
    fc.property(letters, plain, (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
      expect(wildcardMatches(pattern, text)).toBe(expression.test(text));
    }),
  );
});

it("sets, ranges and escapes are read as a shell reads them", () => {
  const matches = (pattern: string, text: string) => tokensMatch(readTokens(pattern), text);
  expect([matches("[a-c]", "b"), matches("[!a-c]", "b"), matches("[^a-c]", "d")]).toEqual([
    true,
    false,
    true,
  ]);
  expect([matches("[]a]", "]"), matches("[", "["), matches("\\*", "*"), matches("\\*", "a")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
