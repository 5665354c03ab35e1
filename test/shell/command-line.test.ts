import { describe, expect, it } from "vitest";
import { readCommandLine } from "../../src/shell/command-line.js";
import { outlineOf } from "../../src/shell/read/outline.js";

describe("a command line", () => {
  it("is read once, however often it is asked about", () => {
    const line = readCommandLine("cd app && rm -rf build", { home: "/home/me" });
    expect(readCommandLine("cd app && rm -rf build", { home: "/home/me" })).toBe(line);
    expect(line.written).toBe(line.written);
    expect(line.readings?.[0]).toBe(line.written);
  });

  it("is another one for another home, other variables, another text", () => {
    const line = readCommandLine("$X a", { home: "/home/me", variables: { X: "ls" } });
    expect(readCommandLine("$X a", { home: "/home/me", variables: { X: "rm" } })).not.toBe(line);
    expect(readCommandLine("$X a", { home: "/home/you", variables: { X: "ls" } })).not.toBe(line);
    expect(line.readings?.[0]?.commands.map(({ program }) => program)).toEqual(["ls"]);
  });

  it("has a second reading where a person sees something else than bash", () => {
    expect(readCommandLine("ls").shown).toBeUndefined();
    expect(readCommandLine("r\u200bm x").readings).toHaveLength(2);
  });

  it("has no reading when it is broken or too large", () => {
    expect(readCommandLine("if").readings).toBeUndefined();
    expect(readCommandLine(`echo ${"a".repeat(128_000)}`).readings).toBeUndefined();
    expect(readCommandLine(`${"sudo ".repeat(40)}ls`).readings).toBeUndefined();
  });

  it("spells the folders of the person as its words do", () => {
    const line = readCommandLine("ls", { home: "/home/me", hermesHome: "/srv/hermes" });
    expect(
      ["/home/me/a", "$HOME/a", "/srv/hermes/x", "/home/meant"].map((path) => line.shortPath(path)),
    ).toEqual(["~/a", "~/a", "~/.hermes/x", "/home/meant"]);
  });
});

describe("the outline of a line", () => {
  const words = (text: string) => outlineOf(text)?.commands.map((command) => command.words.join("|"));

  it("names the commands as they are written, substitutions first", () => {
    expect(words(`A=1 x "a b" 'c'd $E > f; time y "$(z)" | [[ -n q ]]`)).toEqual([
      "x|a b|cd|$E",
      "z",
      "y|$(z)",
      "[[",
    ]);
    expect(words("if")).toBeUndefined();
  });

  it("knows what is one simple command", () => {
    for (const text of ["x a", "A=1 x 'a;b'", 'x "$HOME"']) expect(outlineOf(text)?.simple, text).toBe(true);
    for (const text of ["x; y", "x | y", "x &", "x > f", "x $(y)", "x `y`", "x <(y)", "(x)", "A=$(y) x", ""])
      expect(outlineOf(text)?.simple, text).toBe(false);
  });

  it.each([
    ["x & y", true, false],
    ["x &", true, true],
    ["(x &)", true, true],
    ["{ x & }; y", true, false],
    ["x 'a & b' && y", false, false],
    ["if x; then y & fi", true, false],
  ])("%s: in the background %s, at its end %s", (text, background, endsInBackground) => {
    expect(outlineOf(text)).toMatchObject({ background, endsInBackground });
  });
});
