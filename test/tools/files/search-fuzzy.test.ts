import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPaths } from "../../../src/tools/files/search/fuzzy/find-paths.js";
import { PathIndex } from "../../../src/tools/files/search/fuzzy/path-index.js";
import { rankFuzzily } from "../../../src/tools/files/similar-names.js";

const PATHS = [
  "README.md",
  "docs/reference.md",
  "src/call/dispatch.ts",
  "src/env/local/output-reader.ts",
  "src/env/remote/read-stream.ts",
  "src/tools/files/read-file.ts",
  "src/tools/files/search-files.ts",
  "src/tools/files/write-file.ts",
  "src/tools/network/HTMLParser.java",
  "src/tools/network/http_request.ts",
  "test/tools/files/read-file.test.ts",
];
const index = new PathIndex(PATHS);
const best = (query: string) => findPaths(index, query, { wanted: 3 }).paths[0];

describe("what people type", () => {
  it.each([
    ["a whole name", "read-file.ts", "src/tools/files/read-file.ts"],
    ["a name without extension", "dispatch", "src/call/dispatch.ts"],
    ["a piece", "arch-f", "src/tools/files/search-files.ts"],
    ["another kind of hyphen", "http-request", "src/tools/network/http_request.ts"],
    ["first letters of words", "wf", "src/tools/files/write-file.ts"],
    ["beginnings of words", "reqhtt", undefined],
    ["beginnings of words in order", "htreq", "src/tools/network/http_request.ts"],
    ["humps", "hp", "src/tools/network/HTMLParser.java"],
    ["letters left out", "rdfile", "src/tools/files/read-file.ts"],
    ["folder and name", "remote read", "src/env/remote/read-stream.ts"],
    ["folder/name", "test/tools/read-file", "test/tools/files/read-file.test.ts"],
    ["name and folder", "reader local", "src/env/local/output-reader.ts"],
    ["letters over folder and name", "calldis", "src/call/dispatch.ts"],
    ["a wrong letter", "dispetch", "src/call/dispatch.ts"],
    ["a missing letter", "serch-files", "src/tools/files/search-files.ts"],
    ["a letter too many", "writee-file", "src/tools/files/write-file.ts"],
    ["swapped letters", "raed-file", "src/tools/files/read-file.ts"],
    ["a slip in a part of a name", "serach", "src/tools/files/search-files.ts"],
    ["a slip after a folder", "files raed", "src/tools/files/read-file.ts"],
    ["capitals that are meant", "README", "README.md"],
  ])("%s: %s", (_, query, expected) => {
    expect(best(query)).toBe(expected);
  });

  it("nothing like it, or nothing at all, finds nothing", () => {
    for (const query of ["qqq", "", " / ", "."]) {
      expect(findPaths(index, query, { wanted: 3 })).toEqual({ paths: [], total: 0 });
    }
  });

  it("only what is accepted is found and counted", () => {
    const accepts = (path: string) => path.endsWith(".md");
    expect(findPaths(index, "re", { wanted: 9, accepts })).toEqual({
      paths: ["README.md", "docs/reference.md"],
      total: 2,
    });
  });
});

const letters = fc.string({ unit: fc.constantFrom(..."abcdefghij"), minLength: 6, maxLength: 14 });
const path = fc
  .array(fc.string({ unit: fc.constantFrom(..."aBc-_.dé1"), minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join("/"));

describe("laws", () => {
  it("any name is found despite any one slip", () => {
    const slip = fc.tuple(fc.nat(), fc.constantFrom("drop", "add", "change", "swap"));
    fc.assert(
      fc.property(letters, slip, (name, [number, kind]) => {
        const at = number % (name.length - 1);
        const [before, after] = [name.slice(0, at), name.slice(at + 1)];
        const typed = {
          drop: before + after,
          add: `${before}z${name.slice(at)}`,
          change: `${before}z${after}`,
          swap: before + name[at + 1] + name[at] + name.slice(at + 2),
        }[kind];
        expect(rankFuzzily([`x/${name}.ts`, "x/zzzz.ts"], typed)[0]).toBe(`x/${name}.ts`);
      }),
    );
  });

  it("every path that holds the letters in order is found, and the full name comes first", () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 1, maxLength: 30 }), fc.nat(), (paths, number) => {
        const target = paths[number % paths.length] ?? "";
        const name = target.slice(target.lastIndexOf("/") + 1);
        fc.pre(!name.includes(" ") && name !== ".");
        const found = rankFuzzily(paths, name);
        const fold = (text: string) => text.toLowerCase().replace(/[_ ]/g, "-");
        const holds = (candidate: string) => {
          let at = 0;
          for (const sign of fold(candidate)) if (sign === fold(name)[at]) at++;
          return at === name.length;
        };
        expect(new Set(found)).toEqual(new Set([...found, ...paths.filter(holds)]));
        const first = found[0] ?? "";
        expect(fold(first.slice(first.lastIndexOf("/") + 1))).toBe(fold(name));
      }),
    );
  });

  it("a page is a part of the whole, however many fit", () => {
    const many = Array.from({ length: 5000 }, (_, number) => `src/part${number % 70}/read-file-${number}.ts`);
    const large = new PathIndex(many);
    const whole = findPaths(large, "rdfl", { wanted: 5000 });
    expect(whole.total).toBe(5000);
    expect(findPaths(large, "rdfl", { wanted: 40 })).toEqual({
      paths: whole.paths.slice(0, 40),
      total: 5000,
    });
  });
});
