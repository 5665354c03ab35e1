import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Effect } from "../../../src/tool/effects.js";
import { mark } from "../../../src/tool/marked-text.js";
import patchTool from "../../../src/tools/files/patch.js";
import readFileTool from "../../../src/tools/files/read-file.js";
import {
  call,
  type Fields,
  type FileTestContext,
  failureOf,
  makeFileContext,
  withDefaults,
} from "./support.js";

let ctx: FileTestContext;
beforeEach(() => {
  ctx = makeFileContext();
});
afterEach(() => ctx.cleanUp());

const patch = (args: Fields) => call(patchTool, args, ctx);
const v4a = (...body: string[]) =>
  patch({ mode: "patch", patch: ["*** Begin Patch", ...body, "*** End Patch"].join("\n") });

describe("mode replace", () => {
  it("changes the file and shows how", async () => {
    const path = ctx.write("src/a.ts", "one\ntwo\nthree\n");
    const result = await patch({ path: "src/a.ts", old_string: "two", new_string: "TWO" });
    expect(result).toMatchObject({
      success: true,
      status: "success",
      path,
      environment: "local",
      strategy: "exact",
      replacements: 1,
      files_modified: [path],
      files_created: [],
      files_deleted: [],
      verified: "inode",
    });
    expect(result.diff).toBe("--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n");
    expect(ctx.read("src/a.ts")).toBe("one\nTWO\nthree\n");
  });

  it("shows a person the change in colour", async () => {
    ctx.write("a.json", '{"a": 1}\n');
    const out = await patch({ path: "a.json", old_string: "1}", new_string: "2,}" });
    const { human } = patchTool.present?.(out as never) ?? { human: "" };
    expect(human).toContain(mark.removed('-{"a": 1}'));
    expect(human).toContain(mark.added('+{"a": 2,}'));
    expect(human).toContain("syntax: ");
  });

  it("keeps mode, links and encoding", async () => {
    const path = ctx.write("real.txt", Buffer.from("\uFEFFcaf\u00e9 one\r\n", "utf16le"));
    chmodSync(path, 0o700);
    symlinkSync(path, join(ctx.folder, "link.txt"));
    await patch({ path: "link.txt", old_string: "one", new_string: "“two”" });
    expect(readFileSync(path)).toEqual(Buffer.from("\uFEFFcafé “two”\r\n", "utf16le"));
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it("edits a Latin-1 file in its own spelling and refuses what it cannot spell", async () => {
    const path = ctx.write("latin.txt", Buffer.from("caf\xe9 one\n", "latin1"));
    await patch({ path, old_string: "café one", new_string: "café é" });
    expect(readFileSync(path)).toEqual(Buffer.from("caf\xe9 \xe9\n", "latin1"));
    expect((await failureOf(patch({ path, old_string: "café", new_string: "日本" }))).message).toContain(
      "cannot spell",
    );
  });

  it.each([
    ["missing arguments", { path: "a.txt", old_string: "x" }, "needs path, old_string and new_string"],
    ["blank old_string", { path: "a.txt", old_string: " ", new_string: "x" }, "empty or only blanks"],
    ["no change", { path: "a.txt", old_string: "one", new_string: "one" }, "the same"],
    ["ambiguity", { path: "a.txt", old_string: "e", new_string: "x" }, "places (lines 1, "],
    ["a missing file", { path: "nope.txt", old_string: "a", new_string: "b" }, "does not exist"],
    ["a directory", { path: "home", old_string: "a", new_string: "b" }, "is a directory"],
    ["a binary file", { path: "b.bin", old_string: "a", new_string: "b" }, "binary"],
  ])("refuses %s and changes nothing", async (_, args, message) => {
    ctx.write("a.txt", "one\nthree\nfive\n");
    ctx.write("b.bin", Buffer.from([0, 1, 2, 97, 0]));
    ctx.write(".env", "a=1");
    expect((await failureOf(patch(args))).message).toContain(message);
    expect(ctx.read("a.txt")).toBe("one\nthree\nfive\n");
    expect(ctx.read(".env")).toBe("a=1");
  });

  it("an edit made before is a success that writes nothing", async () => {
    const path = ctx.write("a.txt", "const answer = 42;\n");
    const { mtimeMs } = statSync(path);
    expect(
      await patch({ path, old_string: "const answer = 41;", new_string: "const answer = 42;" }),
    ).toMatchObject({
      success: true,
      already_applied: true,
      files_modified: [],
    });
    expect(statSync(path).mtimeMs).toBe(mtimeMs);
  });

  it("the third failure in a row on one file insists on reading it again", async () => {
    ctx.write("a.txt", "something else\n");
    const attempt = () =>
      failureOf(patch({ path: "a.txt", old_string: "not in there at all", new_string: "x" }));
    expect((await attempt()).hint).not.toContain("in a row");
    expect((await attempt()).hint).not.toContain("in a row");
    expect((await attempt()).hint).toContain("failure 3 in a row");
  });

  it("warns when the file changed since it was read", async () => {
    ctx.write("a.txt", "one\n");
    await call(readFileTool, { path: "a.txt" }, ctx);
    ctx.write("a.txt", "one\nmore\n");
    expect(await patch({ path: "a.txt", old_string: "one", new_string: "two" })).toHaveProperty("_warning");
  });

  it("reports a new syntax error", async () => {
    ctx.write("a.json", '{"a": 1}\n');
    expect(await patch({ path: "a.json", old_string: "1", new_string: "1," })).toMatchObject({
      lint: { checker: "json", status: "error" },
    });
  });

  it("parallel edits of one file are all there in the end", async () => {
    const slots = Array.from({ length: 8 }, (_, index) => `slot${index}`);
    ctx.write("a.txt", slots.map((slot) => `${slot}=old;\n`).join(""));
    const results = await Promise.all(
      slots.map((slot) => patch({ path: "a.txt", old_string: `${slot}=old;`, new_string: `${slot}=new;` })),
    );
    expect(results.every((result) => result.success)).toBe(true);
    expect(ctx.read("a.txt")).toBe(slots.map((slot) => `${slot}=new;\n`).join(""));
  });

  it("a failed patch never changes the file", async () => {
    const word = fc.constantFrom("a", "b", "  a", "a b", "“a”", "\\n", "");
    const block = fc.array(word, { maxLength: 6 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(block, block, block, async (text, old, by) => {
        ctx.write("p.txt", text);
        try {
          await patch({ path: "p.txt", old_string: old, new_string: by });
        } catch {
          expect(ctx.read("p.txt")).toBe(text);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("mode patch", () => {
  it("adds, updates, moves and deletes files in one go", async () => {
    ctx.write("keep.txt", "a\nb\n");
    ctx.write("dead.txt", "x\n");
    const moved = ctx.write("old/name.sh", "echo 1\n");
    chmodSync(moved, 0o755);
    const result = await v4a(
      "*** Add File: made/new.txt",
      "+hello",
      "*** Update File: keep.txt",
      "@@",
      " a",
      "-b",
      "+B",
      "*** Move File: old/name.sh -> new/name.sh",
      "@@",
      "-echo 1",
      "+echo 2",
      "*** Delete File: dead.txt",
    );
    expect(result).toMatchObject({
      success: true,
      files_modified: [join(ctx.folder, "keep.txt")],
      files_created: [join(ctx.folder, "made/new.txt")],
      files_deleted: [join(ctx.folder, "dead.txt")],
      files_moved: [{ from: moved, to: join(ctx.folder, "new/name.sh") }],
    });
    expect(ctx.read("keep.txt")).toBe("a\nB\n");
    expect(ctx.read("made/new.txt")).toBe("hello\n");
    expect(ctx.read("new/name.sh")).toBe("echo 2\n");
    expect(statSync(join(ctx.folder, "new/name.sh")).mode & 0o777).toBe(0o755);
    expect(existsSync(moved)).toBe(false);
    expect(existsSync(join(ctx.folder, "dead.txt"))).toBe(false);
    expect(result.diff).toContain("+++ /dev/null");
    expect(result.diff).toContain("--- /dev/null");
  });

  it("is understood without mode when only a patch is sent", async () => {
    const text = "*** Begin Patch\n*** Add File: x.txt\n+x\n*** End Patch";
    expect(await patch({ path: "", old_string: "", patch: text })).toMatchObject({ success: true });
    expect(ctx.read("x.txt")).toBe("x\n");
  });

  it.each([
    [
      "a hunk that does not fit",
      ["*** Update File: b.txt", "@@", "-nope nope nope", "+x"],
      "not in the file",
    ],
    ["a file that exists", ["*** Add File: b.txt", "+x"], "exists already"],
    ["a file that is missing", ["*** Delete File: nope.txt"], "does not exist"],
    ["a path that climbs", ["*** Add File: ../evil.txt", "+x"], '".."'],
    ["a hidden climb", ["*** Update File: a/../../evil.txt", "@@", "-x", "+y"], '".."'],
    ["a move over a file", ["*** Move File: b.txt -> c.txt"], "exists already"],
    [
      "two contrary parts",
      ["*** Delete File: b.txt", "*** Update File: b.txt", "@@", "-b", "+x"],
      "two parts",
    ],
  ])("%s stops the whole patch before anything is written", async (_, part, message) => {
    for (const name of ["a", "b", "c"]) ctx.write(`${name}.txt`, `${name}\n`);
    ctx.write(".env", "K=1");
    const before = readdirSync(ctx.folder);
    const error = await failureOf(v4a("*** Update File: a.txt", "@@", "-a", "+A", ...part));
    expect(error.message).toContain(message);
    expect(ctx.read("a.txt")).toBe("a\n");
    expect(ctx.read("b.txt")).toBe("b\n");
    expect(readdirSync(ctx.folder)).toEqual(before);
  });

  it("two sections of one file build on each other", async () => {
    ctx.write("a.txt", "a\nb\n");
    await v4a("*** Update File: a.txt", "@@", "-a", "+A", "*** Update File: ./a.txt", "@@", " A", "-b", "+B");
    expect(ctx.read("a.txt")).toBe("A\nB\n");
  });

  it("takes back what was written when a later step fails", async () => {
    for (const name of ["a", "z", "gone"]) ctx.write(`${name}.txt`, `${name}\n`);
    const { environment } = ctx;
    const files = { ...environment.files, remove: () => Promise.reject(new Error("disk trouble")) };
    const failing = { ...ctx, environment: { ...environment, files } };
    const text = [
      "*** Begin Patch",
      "*** Update File: a.txt",
      "@@",
      "-a",
      "+A",
      "*** Move File: z.txt -> y.txt",
      "*** Delete File: gone.txt",
      "*** End Patch",
    ].join("\n");
    await expect(call(patchTool, { mode: "patch", patch: text }, failing)).rejects.toThrow("disk trouble");
    for (const name of ["a", "z", "gone"]) expect(ctx.read(`${name}.txt`)).toBe(`${name}\n`);
    expect(existsSync(join(ctx.folder, "y.txt"))).toBe(false);
  });
});

describe("effects", () => {
  const effects = (args: Fields): readonly Effect[] =>
    patchTool.effects?.(withDefaults(patchTool, args) as never, { cwd: "/w", environment: "local" }) ?? [];

  it("replace touches one path", () => {
    expect(effects({ path: "a", old_string: "x", new_string: "y" })).toMatchObject([
      { action: "file:write", resource: "/w/a" },
    ]);
  });

  it("a patch touches every header path, not the path argument", () => {
    const text = [
      "*** Begin Patch",
      "*** Add File: new",
      "+x",
      "*** Update File: sub/up",
      "@@",
      "-x",
      "+y",
      "*** Delete File: /abs/del",
      "*** Move File: from -> to",
      "*** End Patch",
    ].join("\n");
    expect(
      effects({ mode: "patch", path: "decoy", patch: text }).map(({ action, resource }) => [
        action,
        resource,
      ]),
    ).toEqual([
      ["file:write", "/w/new"],
      ["file:write", "/w/sub/up"],
      ["file:delete", "/abs/del"],
      ["file:delete", "/w/from"],
      ["file:write", "/w/to"],
    ]);
  });
});
