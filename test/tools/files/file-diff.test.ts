import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch } from "diff";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderMarks } from "../../../src/tool/marked-text.js";
import { diffTexts } from "../../../src/tools/files/diff/compare-texts.js";
import tool from "../../../src/tools/files/file-diff.js";
import { needs } from "../../support/needs.js";
import { testRuntime } from "../../support/runtime.js";
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

const diff = (args: Fields) => call(tool, args, ctx);

describe("two files", () => {
  it("a unified diff that patch programs understand", async () => {
    ctx.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    ctx.write("b.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten");
    const out = await diff({ a: "a.txt", b: "b.txt", context: 1 });
    expect(out).toMatchObject({
      success: true,
      identical: false,
      added: 2,
      removed: 1,
      diff: "--- a.txt\n+++ b.txt\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n@@ -9 +9,2 @@\n 9\n+ten\n\\ No newline at end of file",
    });
    expect(applyPatch(ctx.read("a.txt"), `${out.diff}\n`)).toBe(ctx.read("b.txt"));
  });

  it("identical files are told as such", async () => {
    ctx.write("a.txt", "x\n");
    ctx.write("b.txt", "x\n");
    expect(await diff({ a: "a.txt", b: "b.txt" })).toMatchObject({ identical: true, added: 0, diff: "" });
    ctx.write("b.txt", " x \n");
    expect(await diff({ a: "a.txt", b: "b.txt", ignore_whitespace: true })).toMatchObject({
      identical: true,
    });
  });

  it("applying any diff gives the new text, however different the two are", async () => {
    const piece = fc.constantFrom("a\n", "b\n", "c\n", "\n", "ab", "ü\n", "\r\n", "-x\n", "+y\n");
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(text, text, fc.integer({ min: 0, max: 4 }), async (before, after, context) => {
        const { diff: patch, identical } = await diff({ a: before, b: after, as: "text", context });
        if (identical === true) expect(before).toBe(after);
        else expect(applyPatch(before, `${patch}\n`, { autoConvertLineEndings: false })).toBe(after);
      }),
      { numRuns: 200 },
    );
  });

  it("texts without a common line are shown as replaced, quickly and rightly", async () => {
    const lines = (seed: string) => Array.from({ length: 30_000 }, (_, i) => `${seed} ${i}\n`).join("");
    const found = await diffTexts(
      {
        before: `same\n${lines("old")}end\n`,
        after: `same\n${lines("new")}end\n`,
        signal: new AbortController().signal,
      },
      { context: 3, ignoreWhitespace: false },
    );
    expect(found).toMatchObject({ added: 30_000, removed: 30_000, smallest: false });
    expect(found.hunks[0]).toMatchObject({ oldStart: 1, oldLines: 30_002, newLines: 30_002 });
    expect(found.hunks[0]?.lines[0]).toBe(" same");
    expect(found.cut).toBe(true);
    const few = {
      before: "same\nold\nend\n",
      after: "same\nnew\nend\n",
      signal: new AbortController().signal,
    };
    const small = await diffTexts(few, { context: 1, ignoreWhitespace: false });
    expect(small.hunks[0]?.lines).toEqual([" same", "-old", "+new", " end"]);
  });

  it("large files are compared beside the event loop, and no longer than the call lasts", async () => {
    const numbered = (every: number) =>
      Array.from({ length: 120_000 }, (_, at) => `line ${at % every === 0 ? -at : at}\n`).join("");
    ctx.write("old.txt", numbered(7));
    ctx.write("new.txt", numbered(11));
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    try {
      const whole = await diff({ a: "old.txt", b: "new.txt", mode: "stat" });
      expect(whole).toMatchObject({ identical: false });
      expect(turns).toBeGreaterThan(20);
      const leave = new AbortController();
      const stopped = call(tool, { a: "old.txt", b: "new.txt" }, { ...ctx, signal: leave.signal });
      const before = turns;
      while (turns < before + 5) await new Promise(setImmediate);
      leave.abort(new Error("enough"));
      await expect(stopped).rejects.toThrow("enough");
    } finally {
      clearInterval(counting);
    }
  });

  it("binary files are reported, not shown", async () => {
    ctx.write("a.bin", Buffer.from([0, 1, 2, 3, 0]));
    ctx.write("b.bin", Buffer.from([0, 1, 2, 4, 0, 9]));
    const out = await diff({ a: "a.bin", b: "b.bin" });
    expect(out).toMatchObject({
      identical: false,
      files: [{ binary: true, note: "binary (5 and 6 bytes)" }],
    });
    expect(await diff({ a: "a.bin", b: "a.bin" })).toMatchObject({ identical: true });
  });

  it("encodings are read, and named where they are all that differs", async () => {
    ctx.write("u16.txt", Buffer.from("\ufeffGrüße\n", "utf16le"));
    ctx.write("u8.txt", "Grüße\n");
    ctx.write("crlf.txt", "a\r\nb\r\n");
    ctx.write("lf.txt", "a\nb\n");
    expect(await diff({ a: "u16.txt", b: "u8.txt" })).toMatchObject({
      identical: false,
      added: 0,
      files: [{ note: expect.stringContaining("encodings differ: utf-16le") }],
    });
    expect(await diff({ a: "crlf.txt", b: "lf.txt" })).toMatchObject({
      files: [{ note: "only line endings differ (CRLF, LF)" }],
    });
  });

  it("large files are compared without their lines", async () => {
    const text = "0123456789\n".repeat(800_000);
    ctx.write("a.log", text);
    ctx.write("b.log", `${text}x`);
    ctx.write("c.log", text);
    expect(await diff({ a: "a.log", b: "b.log" })).toMatchObject({
      identical: false,
      files: [{ note: expect.stringContaining("too large") }],
    });
    expect(await diff({ a: "a.log", b: "c.log" })).toMatchObject({ identical: true });
  });
});

describe("other sides and shapes", () => {
  it("texts, words, counts and hunks", async () => {
    const both = { a: "one two three\nfour\n", b: "one 2 three\nfour\n" };
    expect((await diff({ ...both, mode: "words" })).diff).toContain("one [-two-]{+2+} three\nfour");
    expect((await diff({ ...both, mode: "stat" })).diff).toBe("b | 2 +-");
    expect(await diff({ ...both, mode: "json" })).toMatchObject({
      files: [
        {
          status: "modified",
          hunks: [{ oldStart: 1, oldLines: 2, lines: ["-one two three", "+one 2 three", " four"] }],
        },
      ],
    });
    const painted = renderMarks(
      tool.present?.((await diff({ ...both, mode: "words" })) as never)?.human ?? "",
      (meaning, text) => `<${meaning}>${text}</>`,
    );
    expect(painted).toContain("one <removed>two</><added>2</> three");
  });

  it("folders, all the way down, with links never followed and secrets never shown", async () => {
    ctx.write("x/same.txt", "1");
    ctx.write("y/same.txt", "1");
    ctx.write("x/sub/a.txt", "old\n");
    ctx.write("y/sub/a.txt", "new\n");
    ctx.write("x/gone.txt", "g\n");
    ctx.write("y/added.txt", "a\n");
    ctx.write("x/.env", "KEY=one");
    ctx.write("y/.env", "KEY=two");
    ctx.write("y/node_modules/m.js", "m\n");
    symlinkSync("/etc/hostname", join(ctx.folder, "x/link"));
    symlinkSync("/etc/passwd", join(ctx.folder, "y/link"));
    const out = await diff({ a: "x", b: "y", exclude: ["node_modules"] });
    expect(out).toMatchObject({ identical: false, added: 2, removed: 2 });
    expect(
      (out.files as { path: string; status: string }[]).map(({ path, status }) => `${status} ${path}`),
    ).toEqual([
      "modified .env",
      "added added.txt",
      "removed gone.txt",
      "modified link",
      "modified sub/a.txt",
    ]);
    expect(out.diff).toContain("--- gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-g");
    expect(JSON.stringify(out)).not.toContain("KEY=");
  });

  it("what does not fit together or is not there says what to do", async () => {
    mkdirSync(join(ctx.folder, "d"));
    ctx.write("f.txt", "x");
    expect((await failureOf(diff({ a: "d", b: "f.txt" }))).message).toContain("is a folder");
    expect((await failureOf(diff({ a: "f.text", b: "f.txt" }))).hint).toContain("f.txt");
    expect(await failureOf(diff({ a: "f.txt" }))).toMatchObject({ code: "invalid_arguments" });
  });
});

describe("git revisions", () => {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: ctx.folder,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    });

  beforeEach((context) => {
    needs(context, "git");
    ctx.write("src/x.ts", "one\ntwo\n");
    ctx.write("src/old name.ts", "a\nb\nc\nd\ne\n");
    ctx.write("gone.txt", "g\n");
    ctx.write("pic.bin", Buffer.from([0, 1, 2]));
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "first");
    ctx.write("src/x.ts", "one\n2\n");
    git("mv", "src/old name.ts", "src/new name.ts");
    git("rm", "-q", "gone.txt");
    ctx.write("pic.bin", Buffer.from([0, 9]));
    ctx.write(".env", "KEY=committed\n");
    git("add", ".");
    git("commit", "-qm", "second");
  });

  it("a file against what it was", async () => {
    ctx.write("src/x.ts", "one\n2\nthree\n");
    expect(await diff({ a: "HEAD~1:src/x.ts", b: "src/x.ts" })).toMatchObject({ added: 2, removed: 1 });
    expect(await diff({ a: "HEAD~1:src/x.ts", b: "HEAD:src/x.ts" })).toMatchObject({ added: 1, removed: 1 });
    expect(await diff({ a: "HEAD:x.ts", b: "src/x.ts", repo: "src" })).toMatchObject({ added: 1 });
    expect((await failureOf(diff({ a: "HEAD:nope.ts", b: "src/x.ts" }))).hint).toContain("revision");
  });

  it("all files between two revisions", async () => {
    const out = await diff({ revisions: "HEAD~1..HEAD" });
    expect((out.files as Fields[]).map(({ status, path }) => `${status} ${path}`).sort()).toEqual([
      "added .env",
      "modified pic.bin",
      "modified src/x.ts",
      "removed gone.txt",
      "renamed src/new name.ts",
    ]);
    expect(out.files).toContainEqual(expect.objectContaining({ path: "pic.bin", binary: true }));
    expect(out.files).toContainEqual(expect.objectContaining({ old_path: "src/old name.ts" }));
    expect(out.diff).toContain("--- src/x.ts\n+++ src/x.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2");
    expect(out.diff).toContain("--- gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-g");
    expect(JSON.stringify(out)).not.toContain("KEY=");
  });

  it("what has changed since a revision, for some paths", async () => {
    ctx.write("src/x.ts", "one\n2\nthree\n");
    writeFileSync(join(ctx.folder, "pic.bin"), Buffer.from([0, 7]));
    const out = await diff({ revisions: "HEAD", paths: ["src"], mode: "json" });
    expect(out.files).toMatchObject([
      { path: "src/x.ts", added: 1, hunks: [{ lines: [" one", " 2", "+three"] }] },
    ]);
  });

  it("refuses what is no revision, and says so when git does not know it", async () => {
    expect(await failureOf(diff({ revisions: "--output=/tmp/x" }))).toMatchObject({
      code: "invalid_arguments",
    });
    expect((await failureOf(diff({ revisions: "nope..HEAD" }))).message).toContain("nope");
  });

  it("runs no program that the repository names for showing differences", async () => {
    const trap = join(ctx.folder, "trapped");
    git("config", "diff.external", `touch ${trap}; true`);
    git("config", "diff.evil.textconv", `touch ${trap}; cat`);
    git("config", "filter.evil.clean", `touch ${trap}; cat`);
    ctx.write(".gitattributes", "* diff=evil filter=evil\n");
    ctx.write("src/x.ts", "changed\n");
    expect(await diff({ revisions: "HEAD", paths: ["src/x.ts"] })).toMatchObject({ added: 1, removed: 2 });
    await diff({ a: "HEAD:src/x.ts", b: "src/x.ts" });
    expect(() => readFileSync(trap)).toThrow(/ENOENT/);
  });
});

it("effects name the paths, never a text; the whole path keeps to them", async () => {
  const scope = { cwd: "/w", environment: "local" };
  const effects = (args: Fields) =>
    (tool.effects?.(withDefaults(tool, args) as never, scope) ?? []).map(({ resource }) => resource);
  expect(effects({ a: "x", b: "/y/z" })).toEqual(["/w/x", "/y/z"]);
  expect(effects({ a: "line\nline", b: "x" })).toEqual(["/w/x"]);
  expect(effects({ a: "x", b: "y", as: "text" })).toEqual([]);
  expect(effects({ a: "HEAD:s/x", b: "s/x" })).toEqual(["/w/HEAD:s/x", "/w/s/x", "/w"]);
  expect(effects({ revisions: "a..b", repo: "r" })).toEqual(["/w/r"]);

  const { runtime, cwd } = await testRuntime([], { builtins: true });
  execFileSync("sh", ["-c", "mkdir a b; echo 1 > a/f; echo 2 > b/f"], { cwd });
  const session = await runtime.openSession();
  const result = await session.call({ name: "file_diff", arguments: { a: "a", b: "b" } });
  expect(result.structured).toMatchObject({ added: 1, removed: 1 });
});
