import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cellWidth } from "../../src/base/cell-width.js";
import { keepPicture, pictureProtocol, pictureSequence } from "../../src/cli/chat/pictures.js";
import { argumentPreview, elapsed, resultRows, toolLine } from "../../src/cli/chat/tool-line.js";
import { Output } from "../../src/cli/output.js";
import { markDiff } from "../../src/tool/marked-text.js";
import { tempDir } from "../support/runtime.js";

const out = new Output({}, { FORCE_COLOR: "1" });

describe("the line of a call", () => {
  it.for([
    [{ content: "x", path: "a.txt" }, "a.txt"],
    ['{"command":"ls\\n -l"}', "ls -l"],
    [{ items: [1, 2] }, "[1,2]"],
    ["{half", "{half"],
    [{ path: "\u001b[2Jx" }, "\\u{1b}[2Jx"],
    [{}, ""],
    [null, ""],
  ] as const)("of %j it tells %j", ([given, preview]) => {
    expect(argumentPreview(given)).toBe(preview);
  });

  it("fits the row, whatever is in it", () => {
    const call = { sign: "✓", emoji: "📄 ", name: "write_file", preview: "漢".repeat(100), ms: 61_500 };
    const line = toolLine(call, { out, columns: 40 });
    expect(cellWidth(line)).toBeLessThan(40);
    expect(line).toContain("1m 1s");
  });

  it("says how long it took at a glance", () => {
    expect([40, 9_940, 12_300, 125_000].map(elapsed)).toEqual(["40ms", "9.9s", "12s", "2m 5s"]);
  });

  it("shows differences and errors, nothing else of a result", () => {
    const event = { type: "tool_result", id: "1", name: "patch", content: [], duration_ms: 1 } as const;
    const rows = (ok: boolean, human: string) => resultRows({ ...event, ok, human }, { out, columns: 80 });
    expect(rows(true, markDiff("@@ -1 +1 @@\n-old\n+new"))).toEqual([
      `  ${out.color.dim("@@ -1 +1 @@")}`,
      `  ${out.color.red("-old")}`,
      `  ${out.color.green("+new")}`,
    ]);
    expect(rows(true, "many words")).toEqual([]);
    expect(rows(false, "It failed.\nBadly.")).toEqual([
      `  ${out.color.red("It failed.")}`,
      `  ${out.color.red("Badly.")}`,
    ]);
  });
});

describe("pictures", () => {
  const png = { data: "iVBORw0KGgo=", mimeType: "image/png" };

  it("are shown only where the terminal says that it can, and not through tmux", () => {
    expect(pictureProtocol({ TERM: "xterm-kitty" })).toBe("kitty");
    expect(pictureProtocol({ TERM: "xterm-kitty", TMUX: "/tmp/x" })).toBe("none");
    expect(pictureProtocol({ TERM_PROGRAM: "iTerm.app" })).toBe("iterm");
    expect(pictureProtocol({ TERM: "xterm-256color" })).toBe("none");
  });

  it("go to the terminal whole, in pieces that it takes, and nothing else does", () => {
    const long = { ...png, data: "A".repeat(10_000) };
    const sequence = pictureSequence(long, "kitty") ?? "";
    const pieces = [...sequence.matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g)];
    expect(pieces.map(([, head]) => head?.at(-1))).toEqual(["1", "1", "0"]);
    expect(pieces.map(([, , data]) => data).join("")).toBe(long.data);
    expect(pictureSequence({ ...png, data: "AA\u001b\\evil" }, "kitty")).toBeUndefined();
    expect(pictureSequence({ ...png, mimeType: "image/jpeg" }, "kitty")).toBeUndefined();
    expect(pictureSequence(png, "none")).toBeUndefined();
  });

  it("are kept in a file elsewhere", async () => {
    const path = await keepPicture(png, join(tempDir(), "pictures"));
    expect(path).toMatch(/\.png$/);
    expect(existsSync(path)).toBe(true);
  });
});
