import { describe, expect, it } from "vitest";
import { compilePatterns, LineWatch } from "../../src/env/processes/line-watch.js";
import { ToolError } from "../../src/tool/errors.js";

function watched(patterns: readonly string[], chunks: readonly string[]): readonly string[] {
  const lines: string[] = [];
  const watch = new LineWatch({
    patterns: compilePatterns(patterns, "watch_patterns"),
    onMatch: (line) => lines.push(line),
  });
  for (const chunk of chunks) watch.push(Buffer.from(chunk));
  return lines;
}

describe("watching lines", () => {
  it("sees a line that came in pieces, without colours", () => {
    expect(watched(["err.r"], ["all go", "od\n\u001b[31mer", "ror: x\u001b[0m\r\nerror with"])).toEqual([
      "error: x",
    ]);
  });

  it("sees only the beginning of an endless line", () => {
    const long = "x".repeat(100_000);
    expect(watched(["end"], [long, "end\n", "the end\n"])).toEqual(["the end"]);
  });

  it.each(["(", "(?=x)", "\\1", "a{9999999}"])("refuses the pattern %s with what to do", (pattern) => {
    let thrown: unknown;
    try {
      compilePatterns([pattern], "watch_patterns");
    } catch (error) {
      thrown = error;
    }
    expect(ToolError.isInstance(thrown) && thrown).toMatchObject({
      code: "invalid_arguments",
      hint: expect.any(String),
    });
  });

  it("takes no longer for a pattern that is meant to hang", () => {
    const started = Date.now();
    watched(["(a+)+$"], [`${"a".repeat(4_000)}!\n`.repeat(100)]);
    expect(Date.now() - started).toBeLessThan(5_000);
  });
});
