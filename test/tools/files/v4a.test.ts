import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyHunks } from "../../../src/tools/files/patch/v4a-hunks.js";
import { parseV4a } from "../../../src/tools/files/patch/v4a-parse.js";

const wrap = (...body: string[]) => ["*** Begin Patch", ...body, "*** End Patch"].join("\n");

function hunksOf(...body: string[]) {
  const parsed = parseV4a(wrap("*** Update File: f", ...body));
  if (!parsed.ok) throw new Error(parsed.message);
  const [operation] = parsed.operations;
  if (operation?.kind !== "update") throw new Error("no update");
  return operation.hunks;
}

function applied(text: string, ...body: string[]): string {
  const outcome = applyHunks(text, hunksOf(...body));
  if (!outcome.ok) throw new Error(`${outcome.message} ${outcome.hint}`);
  return outcome.text;
}

function refused(text: string, ...body: string[]): string {
  const outcome = applyHunks(text, hunksOf(...body));
  if (outcome.ok) throw new Error("expected a refusal");
  return `${outcome.message} ${outcome.hint}`;
}

describe("parsing", () => {
  it("reads all kinds of operations", () => {
    const parsed = parseV4a(
      wrap(
        "*** Add File: new.txt",
        "+one",
        "+",
        "+three",
        "*** Update File: old.txt",
        "@@ def f():",
        " keep",
        "-gone",
        "+come",
        "*** Delete File: dead.txt",
        "*** Move File: a.txt -> b/c.txt",
        "*** Update File: x.txt",
        "*** Move to: y.txt",
        "@@",
        "-1",
        "+2",
        "*** End of File",
      ),
    );
    expect(parsed).toEqual({
      ok: true,
      operations: [
        { kind: "add", path: "new.txt", content: "one\n\nthree\n" },
        {
          kind: "update",
          path: "old.txt",
          hunks: [
            {
              anchors: ["def f():"],
              atEnd: false,
              lines: [
                { op: " ", text: "keep" },
                { op: "-", text: "gone" },
                { op: "+", text: "come" },
              ],
            },
          ],
        },
        { kind: "delete", path: "dead.txt" },
        { kind: "update", path: "a.txt", moveTo: "b/c.txt", hunks: [] },
        {
          kind: "update",
          path: "x.txt",
          moveTo: "y.txt",
          hunks: [
            {
              anchors: [],
              atEnd: true,
              lines: [
                { op: "-", text: "1" },
                { op: "+", text: "2" },
              ],
            },
          ],
        },
      ],
    });
  });

  it.each([
    ["no begin", "*** Update File: a\n-x\n*** End Patch"],
    ["no end: it may be cut off", "*** Begin Patch\n*** Update File: a\n-x\n+y"],
    ["no operation", wrap("")],
    ["no path", wrap("*** Delete File:  ")],
    ["text without header", wrap("hello")],
    ["a hunk line without mark", wrap("*** Update File: a", "@@", "-x", "junk")],
    ["an added line without plus", wrap("*** Add File: a", "junk")],
    ["an update without change", wrap("*** Update File: a")],
    ["a move without target", wrap("*** Move File: a")],
    ["only context", wrap("*** Update File: a", "@@", " x")],
  ])("refuses %s", (_, patch) => {
    const parsed = parseV4a(patch);
    expect(parsed).toMatchObject({ ok: false, hint: expect.stringContaining("*** Begin Patch") });
  });

  it("never throws, whatever it is given", () => {
    const piece = fc.constantFrom(
      "*** Begin Patch",
      "*** End Patch",
      "*** Update File: a",
      "*** Add File: b",
      "*** Delete File: c",
      "*** Move to: d",
      "@@",
      "@@ x",
      " a",
      "+b",
      "-c",
      "",
      "*** End of File",
      "junk",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (lines) => {
        expect(typeof parseV4a(lines.join("\n")).ok).toBe("boolean");
      }),
      { numRuns: 1000 },
    );
  });
});

describe("applying hunks", () => {
  it("replaces, adds and removes lines", () => {
    expect(applied("a\nb\nc\n", "@@", " a", "-b", "+B", "+B2", " c")).toBe("a\nB\nB2\nc\n");
  });

  it("uses the @@ line to choose between equal places", () => {
    const text = "def f():\n  return 1\ndef g():\n  return 1\n";
    expect(applied(text, "@@ def g():", "-  return 1", "+  return 2")).toBe(
      "def f():\n  return 1\ndef g():\n  return 2\n",
    );
    expect(refused(text, "@@", "-  return 1", "+  return 2")).toContain("2 places (lines 2, 4)");
    expect(refused(text, "@@ def h():", "-  return 1", "+  return 2")).toContain("not in the file");
  });

  it("several hunks, also out of order", () => {
    expect(applied("a\nb\nc\n", "@@", "-c", "+C", "@@", "-a", "+A")).toBe("A\nb\nC\n");
  });

  it("keeps context lines as the file has them and gives new lines the file's depth", () => {
    const text = "if x {\n\tone(“a”)\n\ttwo()\n}\n";
    expect(applied(text, "@@", '     one("a")', "-    two()", "+    three()")).toBe(
      "if x {\n\tone(“a”)\n\tthree()\n}\n",
    );
  });

  it("keeps line endings and the missing final newline", () => {
    expect(applied("a\r\nb\r\n", "@@", " a", "+x")).toBe("a\r\nx\r\nb\r\n");
    expect(applied("a\nb", "@@", "-b", "+B")).toBe("a\nB");
    expect(applied("a\nb", "@@", " b", "+c")).toBe("a\nb\nc");
  });

  it("appends without context at the end, inserts behind an anchor", () => {
    expect(applied("a\n", "@@", "+b")).toBe("a\nb\n");
    expect(applied("", "+b")).toBe("b\n");
    expect(applied("a\nb\n", "@@ a", "+x")).toBe("a\nx\nb\n");
  });

  it("prefers the end of the file when told so", () => {
    expect(applied("x\ny\nx\n", "@@", "-x", "+z", "*** End of File")).toBe("x\ny\nz\n");
  });

  it("a hunk that was applied before changes nothing", () => {
    const text = "start\nconst answer = 42;\nend\n";
    expect(applied(text, "@@", " start", "-const question = 1;", "+const answer = 42;", " end")).toBe(text);
  });

  it("names similar lines when nothing fits", () => {
    expect(refused("alpha beta\n", "@@", "-alpha betas gamma", "+x")).toContain("1| alpha beta");
  });

  it("a diff written as one hunk with all lines gives the new text", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "  d", ""), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const text = before.map((line) => `${line}\n`).join("");
        const body = [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
        expect(applied(text, "@@", ...body)).toBe(after.map((line) => `${line}\n`).join(""));
      }),
    );
  });
});
