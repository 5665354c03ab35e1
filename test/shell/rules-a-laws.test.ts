import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSystemPath, isVital } from "../../src/shell/rules/places.js";
import { couldMatch } from "../../src/shell/rules/segments.js";
import { levelOf, simple } from "./build.js";

const MEANINGS = new Map([
  ["*", ".*"],
  ["?", "."],
  ["[!a]", "[^a]"],
]);
const word = (text: string) => ({ text, known: true, glob: false });
const VITAL = ["/", "/*", "/etc", "/usr", "/home", "/root", "/var/*", "/bin", "/boot", "/lib", "~", "~/*"];

/** Pieces that change how a path is written and not where it leads. */
const detour = fc.constantFrom("/", "/./", "//", "/x/../", "/./x/y/../../");
const respelled = (path: string) =>
  fc.array(detour, { minLength: path.length, maxLength: path.length }).map((detours) => {
    let index = 0;
    return path.replace(/\//g, () => detours[index++] ?? "/");
  });

describe("places", () => {
  it("a vital folder stays vital however its path is written", () => {
    const spelled = fc
      .constantFrom(...VITAL)
      .chain((path) => fc.tuple(respelled(path), fc.constantFrom("", "/", "/.", "//")));
    fc.assert(
      fc.property(spelled, ([path, tail]) => {
        expect(isVital(word(path.endsWith("*") ? path : path + tail))).toBe(true);
      }),
    );
  });

  it("a path below the project is never a system path, and the same path from the root is", () => {
    const parts = fc.array(fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(parts, (names) => {
        const path = `etc/${names.join("/")}`;
        expect(isSystemPath(word(path))).toBe(false);
        expect(isSystemPath(word(`./${path}`))).toBe(false);
        expect(isSystemPath(word(`/${path}`))).toBe(true);
      }),
    );
  });

  it("patterns match as a regular expression of the same meaning does", () => {
    const pattern = fc.array(fc.constantFrom("*", "?", "a", "b", "[ab]", "[!a]", "[a-b]"), { maxLength: 8 });
    const name = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 });
    fc.assert(
      fc.property(pattern, name, (tokens, letters) => {
        const meaning = tokens.map((token) => MEANINGS.get(token) ?? token).join("");
        expect(couldMatch(tokens.join(""), letters.join(""))).toBe(
          new RegExp(`^${meaning}$`).test(letters.join("")),
        );
      }),
    );
  });
});

describe("rules", () => {
  it("one vital operand decides, wherever it stands and whatever is deleted with it", () => {
    const harmless = fc.array(fc.constantFrom("out/", "logs", "a b.txt", "./tmp", "-v", "--force"), {
      maxLength: 6,
    });
    const option = fc.constantFrom("-r", "-R", "-rf", "-fr", "--recursive", "-vrf", "--recurs");
    fc.assert(
      fc.property(
        harmless,
        harmless,
        fc.constantFrom(...VITAL),
        option,
        fc.boolean(),
        (before, after, vital, flag, last) => {
          const operands = [...before, vital, ...after].map(word);
          const args = last ? [...operands, word(flag)] : [word(flag), ...operands];
          expect(levelOf({ ...simple("rm"), args })).toBe("hardline");
        },
      ),
    );
  });

  it("an octal mode needs a yes when others may write or the program borrows rights, and only then", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0o7777 }), (bits) => {
        const asks = (bits & 0o002) !== 0 || (bits & 0o6000) !== 0 || (bits & 0o777) === 0;
        expect(levelOf(simple(`chmod ${bits.toString(8)} file`))).toBe(asks ? "danger" : "safe");
      }),
    );
  });
});
