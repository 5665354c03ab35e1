import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { didYouMean, nearest } from "../../src/config/did-you-mean.js";

const tools = ["read_file", "write_file", "search_files", "web_search", "terminal", "todo", "patch"];

describe("did you mean", () => {
  it("finds a name with one slip of the keyboard", () => {
    expect(nearest("raed_file", tools)[0]).toBe("read_file");
    expect(nearest("termnal", tools)).toEqual(["terminal"]);
    expect(nearest("Read-File", tools)[0]).toBe("read_file");
  });

  it("offers names that contain the typed word when no spelling is close", () => {
    expect(nearest("search", tools)).toEqual(["web_search", "search_files"]);
  });

  it("says nothing when nothing is close", () => {
    expect(nearest("kubernetes", tools)).toEqual([]);
    expect(nearest("", tools)).toEqual([]);
    expect(didYouMean("kubernetes", tools)).toBeUndefined();
  });

  it("gives at most the number asked for, as a sentence", () => {
    expect(nearest("file", tools, 2)).toHaveLength(2);
    expect(didYouMean("tod", tools)).toBe('did you mean "todo"?');
    expect(didYouMean("file", ["read_file", "write_file"])).toBe('did you mean "read_file" or "write_file"?');
  });

  it("always puts the name itself first, however many others there are", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z_]{1,12}$/), { minLength: 1 }), (names) => {
        for (const name of names) expect(nearest(name, names)[0]).toBe(name);
      }),
    );
  });

  it("undoes any single swap, drop, doubling or change of a letter", () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.constantFrom("swap", "drop", "double", "change"), (seed, slip) => {
        const word = "configuration";
        const at = seed % (word.length - 1);
        const [head, first, second, tail] = [
          word.slice(0, at),
          word[at] ?? "",
          word[at + 1] ?? "",
          word.slice(at + 2),
        ];
        const typed = {
          swap: head + second + first + tail,
          drop: head + second + tail,
          double: head + first + first + second + tail,
          change: `${head}#${second}${tail}`,
        }[slip];
        expect(nearest(typed, [word, "terminal"])).toEqual([word]);
      }),
    );
  });
});
