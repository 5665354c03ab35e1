import fc from "fast-check";
import { expect, it } from "vitest";
import { stem } from "../../../src/search/lexical/stem.js";

it.each([
  ["connect", "connection", "connecting", "connected"],
  ["calculate", "calculation", "calculator", "calculates", "calculating"],
  ["translate", "translations", "translator"],
  ["query", "queries"],
  ["box", "boxes"],
  ["city", "cities"],
  ["stop", "stopped", "stopping"],
  ["make", "made", "making"],
  ["child", "children"],
  ["index", "indices", "indexes", "indexing"],
  ["analyze", "analyse", "analyzing"],
  ["organize", "organise", "organising"],
  ["send", "sent"],
  ["recommend", "recommendation", "recommended"],
])("%s and its forms share a stem", (word, ...forms) => {
  for (const form of forms) expect(stem(form), form).toBe(stem(word));
});

it.each([
  ["news", "new"],
  ["general", "generate"],
  ["university", "universe"],
  ["organ", "organize"],
  ["business", "busy"],
])("%s and %s stay apart", (one, other) => {
  expect(stem(one)).not.toBe(stem(other));
});

it("leaves short words, numbers and other scripts alone", () => {
  for (const word of ["", "a", "is", "42", "mp3", "天气", "größe"]) expect(stem(word)).toBe(word);
});

it("never makes a word longer by more than a letter, nor empty", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."aeiouystlngrd"), minLength: 1, maxLength: 14 }),
      (word) => {
        const result = stem(word);
        expect(result.length).toBeGreaterThan(0);
        expect(result.length).toBeLessThanOrEqual(word.length + 1);
      },
    ),
  );
});
