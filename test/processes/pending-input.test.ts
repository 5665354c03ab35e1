import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PendingInput } from "../../src/env/processes/pending-input.js";

function pendingAfter(...typed: readonly string[]): string {
  const pending = new PendingInput();
  for (const data of typed) pending.add(data);
  return pending.text;
}

describe("what stands in the line", () => {
  it.each([
    [["ls"], "ls"],
    [["ls\n"], ""],
    [["ls\r"], ""],
    [["rm ", "-rf ", "/"], "rm -rf /"],
    [["ls\nrm -rf "], "rm -rf "],
    [["rm -rf \u0003ls"], "ls"],
    [["rm -rf \\\n"], "rm -rf \\\n"],
    [["rm -rf \\\n", "/"], "rm -rf \\\n/"],
    [["echo 'a\n", "b"], "echo 'a\nb"],
    [["echo $'it\\'s\n", "b"], "echo $'it\\'s\nb"],
    [["a &&\n"], "a &&\n"],
    [["a |\n"], "a |\n"],
    [["if true\n"], "if true\n"],
    [["for x in a b; do\n", "echo\n"], "for x in a b; do\necho\n"],
    [["for x in a b; do\n", "echo\n", "done\n"], ""],
    [["cat <<EOF\n", "rm\n"], "cat <<EOF\nrm\n"],
    [["cat <<EOF\n", "rm\n", "EOF\n"], ""],
    [["cat <<< x\n"], ""],
    [["f() {\n"], "f() {\n"],
  ])("after %j: %j", (typed, expected) => {
    expect(pendingAfter(...typed)).toBe(expected);
  });

  it("does not depend on how the keys were grouped", () => {
    const piece = fc.constantFrom(
      "ls",
      " ",
      "\n",
      "'",
      '"',
      "\\",
      "&&",
      "if ",
      "fi",
      "<<E",
      "E",
      "\u0003",
      "(",
      ")",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(pendingAfter(...pieces)).toBe(pendingAfter(pieces.join("")));
      }),
    );
  });

  it("is unknowable when it grows too long, and known again after an interrupt", () => {
    const pending = new PendingInput();
    pending.add("x".repeat(20_000));
    expect(pending.text).toBe("\u0000");
    pending.add("y");
    expect(pending.text).toContain("\u0000");
    pending.add("\u0003ls");
    expect(pending.text).toBe("ls");
  });

  it("keeps pace with a megabyte of lines", () => {
    const started = Date.now();
    pendingAfter("echo hello world\n".repeat(60_000));
    pendingAfter(`cat <<EOF\n${"line\n".repeat(100_000)}`);
    expect(Date.now() - started).toBeLessThan(5_000);
  });
});
