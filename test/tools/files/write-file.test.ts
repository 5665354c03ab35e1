import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mark } from "../../../src/tool/marked-text.js";
import readFileTool from "../../../src/tools/files/read-file.js";
import writeFileTool from "../../../src/tools/files/write-file.js";
import { call, type Fields, type FileTestContext, failureOf, makeFileContext } from "./support.js";

let ctx: FileTestContext;
beforeEach(() => {
  ctx = makeFileContext();
});
afterEach(() => ctx.cleanUp());

const write = (args: Fields) => call(writeFileTool, args, ctx);

describe("writing", () => {
  it("says where it wrote, in which environment, and that it looked again", async () => {
    const result = await write({ path: "a/b/c.txt", content: "héllo\n" });
    expect(result).toEqual({
      success: true,
      status: "success",
      path: join(ctx.folder, "a/b/c.txt"),
      resolved_path: join(ctx.folder, "a/b/c.txt"),
      environment: "local",
      bytes_written: 7,
      created: true,
      dirs_created: true,
      files_modified: [join(ctx.folder, "a/b/c.txt")],
      verified: "inode",
    });
    expect(ctx.read("a/b/c.txt")).toBe("héllo\n");
  });

  it("keeps the mode of an existing file and leaves no temporary file behind", async () => {
    const path = ctx.write("run.sh", "old");
    chmodSync(path, 0o755);
    expect(await write({ path, content: "new" })).toMatchObject({ created: false, dirs_created: false });
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(readdirSync(ctx.folder).sort()).toEqual(["home", "run.sh"]);
  });

  it("writes through a link and says where that led", async () => {
    const target = ctx.write("real/target.txt", "old");
    symlinkSync(target, join(ctx.folder, "link.txt"));
    expect(await write({ path: "link.txt", content: "new" })).toMatchObject({ resolved_path: target });
    expect(lstatSync(join(ctx.folder, "link.txt")).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toBe("new");
  });

  it("refuses a directory, a device and broken text", async () => {
    mkdirSync(join(ctx.folder, "folder"));
    expect((await failureOf(write({ path: "folder", content: "" }))).message).toContain("is a directory");
    expect((await failureOf(write({ path: "/dev/stdout", content: "" }))).message).toContain("device");
    expect((await failureOf(write({ path: "a.txt", content: "\ud800" }))).message).toContain("surrogate");
    expect(existsSync(join(ctx.folder, "a.txt"))).toBe(false);
  });

  it("any text comes back byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (content) => {
        await write({ path: "any.txt", content });
        expect(ctx.read("any.txt")).toBe(content);
      }),
      { numRuns: 40 },
    );
  });
});

describe("what a person sees", () => {
  const shown = async (args: Fields) => {
    const out = await write(args);
    const { model, human } = writeFileTool.present?.(out as never) ?? { model: [], human: "" };
    return { out, model: JSON.stringify(model), human };
  };

  it("is what changed in a text file that was there; the model, who wrote it, is not told again", async () => {
    ctx.write("a.txt", "one\ntwo\nthree\n");
    const { out, model, human } = await shown({ path: "a.txt", content: "one\n2\nthree\n" });
    expect(out.diff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    expect(human).toContain(mark.removed("-two"));
    expect(human).toContain(mark.added("+2"));
    expect(model).not.toContain("diff");
  });

  it("is only a line for a new, a large or a binary file", async () => {
    ctx.write("large.txt", "x".repeat(100_000));
    ctx.write("binary.bin", Buffer.from([0, 1, 2, 0]));
    for (const path of ["new.txt", "large.txt", "binary.bin"]) {
      const { out, human } = await shown({ path, content: "text\n" });
      expect(out).not.toHaveProperty("diff");
      expect(human.split("\n")).toHaveLength(1);
    }
  });

  it("is cut when much changed", async () => {
    ctx.write("a.txt", `same\n${"old line\n".repeat(3000)}`);
    const { out } = await shown({ path: "a.txt", content: `same\n${"new line\n".repeat(3000)}` });
    expect(out.diff).toMatch(
      /^--- a\/a.txt\n\+\+\+ b\/a.txt\n@@ -1,3001 \+1,3001 @@\n same\n-old line\n-old line/,
    );
    expect(String(out.diff).length).toBeLessThan(7_000);
    expect(out.diff).toContain("more characters of diff");
  });
});

describe("a place that changes", () => {
  it("a folder swapped for a link between check and write is noticed", async () => {
    mkdirSync(join(ctx.folder, "work"));
    mkdirSync(join(ctx.folder, "elsewhere"));
    const { environment } = ctx;
    let swapped = false;
    const files = {
      ...environment.files,
      async stat(path: string) {
        const stat = await environment.files.stat(path);
        if (swapped || path !== join(ctx.folder, "work/a.txt")) return stat;
        swapped = true;
        renameSync(join(ctx.folder, "work"), join(ctx.folder, "moved"));
        symlinkSync(join(ctx.folder, "elsewhere"), join(ctx.folder, "work"));
        return stat;
      },
    };
    const racing = { ...ctx, environment: { ...environment, files } };
    const attempt = call(writeFileTool, { path: "work/a.txt", content: "x" }, racing);
    expect(await failureOf(attempt)).toMatchObject({ code: "denied" });
    expect(readdirSync(join(ctx.folder, "elsewhere"))).toEqual([]);
  });
});

describe("a file that changed behind the session's back", () => {
  it("is written with a warning, once", async () => {
    ctx.write("a.txt", "one");
    await call(readFileTool, { path: "a.txt" }, ctx);
    ctx.write("a.txt", "changed elsewhere");
    expect(await write({ path: "a.txt", content: "mine" })).toMatchObject({
      _warning: expect.stringContaining("changed"),
    });
    expect(await write({ path: "a.txt", content: "mine again" })).not.toHaveProperty("_warning");
  });

  it("draws no warning when nothing happened or it was never read", async () => {
    ctx.write("a.txt", "one");
    expect(await write({ path: "a.txt", content: "two" })).not.toHaveProperty("_warning");
    await call(readFileTool, { path: "a.txt" }, ctx);
    expect(await write({ path: "a.txt", content: "three" })).not.toHaveProperty("_warning");
  });
});

describe("syntax check", () => {
  const lintOf = async (path: string, content: string) =>
    (await write({ path, content })).lint as Fields | undefined;

  it.each([
    ["a.json", '{"a": 1}', '{"a": 1,}'],
    ["a.yaml", "a: [1, 2]\n", "a: [1, 2\nb: }\n"],
    ["a.mjs", "export const a = 1;\n", "export const a = ;\n"],
    ["a.cjs", "const a = require('a');\n", "const a = {;\n"],
    ["a.js", "import a from 'a';\nawait a();\n", "import a from 'a';\nconst x = ;\n"],
    ["b.js", "const a = require('a'); with (a) {}\n", "function (\n"],
    ["a.jsx", "export const a = <b>c</b>;\n", "export const a = <b>c</d>;\n"],
    ["a.ts", "export const a: number = <number>b;\nenum C { D }\n", "const a: = 1;\n"],
    ["a.tsx", "const a = <b key={1 as number} />;\n", "const a = <b;\n"],
    ["a.py", "match x:\n    case 1:\n        import unused\n", "def f(:\n    pass\n"],
  ])("%s: good is ok, bad is reported", async (path, good, bad) => {
    expect(await lintOf(path, good)).toMatchObject({ status: "ok" });
    const lint = await lintOf(path, bad);
    expect(lint).toMatchObject({ status: "error" });
    expect(lint?.errors).not.toEqual([]);
  });

  it("finds no fault with style, unused names or large files", async () => {
    expect(await lintOf("style.py", "import os, sys\nx=1;y = 2\n")).toEqual({
      checker: "ruff",
      status: "ok",
    });
    expect(await lintOf("large.json", `[${'"x",'.repeat(200_000)}`)).toBeUndefined();
  });

  it("names the line of a Python error", async () => {
    expect((await lintOf("a.py", "x = 1\ny = (\n"))?.errors).toEqual([
      expect.stringMatching(/^line [23]: SyntaxError: /),
    ]);
  });

  it("names the line", async () => {
    expect((await lintOf("a.mjs", "const a = 1;\nconst b = ;\n"))?.errors).toEqual([
      expect.stringMatching(/^line 2: SyntaxError/),
    ]);
  });

  it("reports only what is new", async () => {
    ctx.write("a.mjs", "const a = ;\n");
    expect(await lintOf("a.mjs", "// comment\nconst a = ;\n")).toEqual({
      checker: "node --check",
      status: "ok",
      errors_before: 1,
    });
  });

  it("says nothing about files it cannot check or that may hold comments", async () => {
    expect(await lintOf("a.txt", "{")).toBeUndefined();
    expect(await lintOf("tsconfig.json", "{ // comment\n}")).toBeUndefined();
  });
});
