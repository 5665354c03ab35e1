import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import searchTool from "../../../src/tools/files/search-files.js";
import { call, type Fields, type FileTestContext, failureOf, makeFileContext } from "./support.js";

let ctx: FileTestContext;
beforeEach(() => {
  ctx = makeFileContext();
});
afterEach(() => ctx.cleanUp());

/** A fresh session each time: repeating a search is tested on its own. */
const search = (args: Fields, changes: Fields = {}) =>
  call(searchTool, args, { ...ctx, session: { ...ctx.session }, ...changes });
const WITHOUT_RIPGREP = { settings: { ripgrep_path: "/nonexistent/rg" } };

interface Match {
  path: string;
  line: number;
  content: string;
}
const places = (result: Fields) => (result.matches as Match[]).map(({ path, line }) => `${path}:${line}`);

describe.each([
  ["ripgrep", {}],
  ["grep and find", WITHOUT_RIPGREP],
])("with %s", (_, tools) => {
  const find = (args: Fields) => search(args, tools);

  it("finds lines by regular expression, in order of path and line", async () => {
    ctx.write("b.txt", "needle 1\nhay\nneedle 22\n");
    ctx.write("a/c.txt", "x\nneedle 3\n");
    const result = await find({ pattern: String.raw`needle \d+` });
    expect(result).toMatchObject({
      success: true,
      status: "success",
      environment: "local",
      path: ctx.folder,
    });
    expect(places(result)).toEqual(["a/c.txt:2", "b.txt:1", "b.txt:3"]);
    expect((result.matches as Match[])[2]?.content).toBe("needle 22");
    expect(result).toMatchObject({ total_count: 3, truncated: false });
  });

  it("pages with limit and offset and says how to go on", async () => {
    ctx.write("a.txt", "x\n".repeat(7));
    const first = await find({ pattern: "x", limit: 3 });
    expect(first).toMatchObject({
      total_count: 7,
      truncated: true,
      hint: "Results 1–3 of 7; continue with offset=3.",
    });
    const last = await find({ pattern: "x", limit: 3, offset: 6 });
    expect(places(last)).toEqual(["a.txt:7"]);
    expect(last.truncated).toBe(false);
  });

  it("shows context, also where two matches share it", async () => {
    ctx.write("a.txt", "1\nhit\n3\nhit\n5\n6\n");
    expect((await find({ pattern: "hit", context: 1 })).matches).toEqual([
      { path: "a.txt", line: 2, content: "hit", before: ["1"], after: ["3"] },
      { path: "a.txt", line: 4, content: "hit", before: ["3"], after: ["5"] },
    ]);
  });

  it("lists files only, or counts per file", async () => {
    ctx.write("a.txt", "x\nx\n");
    ctx.write("b.txt", "x\n");
    ctx.write("c.txt", "y\n");
    expect(await find({ pattern: "x", output_mode: "files_only" })).toMatchObject({
      files: ["a.txt", "b.txt"],
      total_count: 2,
    });
    expect(await find({ pattern: "x", output_mode: "count" })).toMatchObject({
      counts: { "a.txt": 2, "b.txt": 1 },
    });
  });

  it("keeps to file_glob, by name or by folder", async () => {
    for (const path of ["a.ts", "a.js", "src/deep/b.ts", "test/b.ts"]) ctx.write(path, "x\n");
    const files = async (file_glob: string) =>
      (await find({ pattern: "x", output_mode: "files_only", file_glob })).files;
    expect(await files("*.ts")).toEqual(["a.ts", "src/deep/b.ts", "test/b.ts"]);
    expect(await files("src/**/*.ts")).toEqual(["src/deep/b.ts"]);
    expect(await files("*.{js,py}")).toEqual(["a.js"]);
  });

  it("searches one file, and folders outside the working directory by absolute path", async () => {
    ctx.write("work/a.txt", "x\n");
    ctx.write("other/b.txt", "x\n");
    const session = { ...ctx.session, cwd: join(ctx.folder, "work") };
    const at = (path: string) => search({ pattern: "x", path }, { ...tools, session });
    expect(places(await at("a.txt"))).toEqual(["a.txt:1"]);
    expect(places(await at("../other"))).toEqual([`${join(ctx.folder, "other/b.txt")}:1`]);
  });

  it("finds hidden files but neither .git nor credentials", async () => {
    for (const path of [".github/ci.yml", ".git/config", ".env", "deep/.env.local", ".envrc"])
      ctx.write(path, "token\n");
    expect(places(await find({ pattern: "token" }))).toEqual([".github/ci.yml:1"]);
    expect((await find({ pattern: "*", target: "files" })).files).toEqual([".github/ci.yml"]);
    expect(await failureOf(find({ pattern: "token", path: ".env" }))).toMatchObject({ code: "denied" });
  });

  it("never shows what binary files hold", async () => {
    ctx.write("a.bin", Buffer.concat([Buffer.from("needle here\n".repeat(9000)), Buffer.from([0, 1, 2])]));
    ctx.write("b.bin", Buffer.from("needle\0needle\n"));
    ctx.write("c.txt", "needle\n");
    const result = await find({ pattern: "needle" });
    expect(new Set(places(result).map((place) => place.split(":")[0]))).toEqual(new Set(["c.txt"]));
    expect((await find({ pattern: "needle", path: "b.bin" })).matches).toEqual([]);
  });

  it("patterns and names that look like options are searched, not obeyed", async () => {
    ctx.write("-rf", "--files\n-e x\n");
    expect(places(await find({ pattern: "--files" }))).toEqual(["-rf:1"]);
    expect(places(await find({ pattern: "-e", path: "-rf" }))).toEqual(["-rf:2"]);
    expect((await find({ pattern: "-rf", target: "files" })).files).toEqual(["-rf"]);
  });

  it("no shell reads the pattern", async () => {
    ctx.write("a.txt", "$(touch pwned) `touch pwned`; 'x'\n");
    expect(places(await find({ pattern: String.raw`\$\(touch pwned\) .*'x'` }))).toEqual(["a.txt:1"]);
  });

  it("an invalid expression is explained", async () => {
    ctx.write("a.txt", "x\n");
    const error = await failureOf(find({ pattern: "a(b" }));
    expect(error).toMatchObject({ code: "invalid_arguments" });
    expect(error.message).toContain("not a valid regular expression");
    expect(error.hint).toContain("backslash");
  });

  it("nothing found is a success with a hint", async () => {
    ctx.write("a.txt", "x\n");
    expect(await find({ pattern: "zzz" })).toMatchObject({ matches: [], total_count: 0, truncated: false });
  });

  it("files by glob or part of a name, newest first", async () => {
    for (const [index, path] of ["old.ts", "src/new.ts", "src/mid.ts", "readme.md"].entries()) {
      utimesSync(ctx.write(path, "x"), 1000, [100, 300, 200, 400][index] ?? 0);
    }
    const files = async (args: Fields) => (await find({ target: "files", ...args })).files;
    expect(await files({ pattern: "*.ts" })).toEqual(["src/new.ts", "src/mid.ts", "old.ts"]);
    expect(await files({ pattern: "READ" })).toEqual(["readme.md"]);
    expect(await files({ pattern: "src/*.ts" })).toEqual(["src/new.ts", "src/mid.ts"]);
    expect(await files({ pattern: "*.ts", target: "find", limit: 1, offset: 1 })).toEqual(["src/mid.ts"]);
  });

  it("fuzzy names: letters in order, the best first", async () => {
    for (const path of ["src/tools/read-file.ts", "src/tools/write-file.ts", "docs/reference.md"])
      ctx.write(path, "x");
    const files = async (pattern: string) =>
      (await find({ pattern, target: "files", fuzzy: true })).files as string[];
    expect((await files("rdfile"))[0]).toBe("src/tools/read-file.ts");
    expect((await files("tools write"))[0]).toBe("src/tools/write-file.ts");
    expect(await files("qqq")).toEqual([]);
  });

  it("finds the same as a plain search over any tree", async () => {
    const name = fc.constantFrom("a", "b.txt", "c.md", ".d", "e f", "ü");
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join("/")}.x`);
    const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "."), maxLength: 6 });
    const tree = fc.dictionary(path, fc.array(line, { maxLength: 5 }), { maxKeys: 6 });
    const pattern = fc.constantFrom("a", "b+", "a.b", "^a", "é$", "a|b", "[ab] ", String.raw`\.`, "(a)b");
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(tree, pattern, async (files, source) => {
        const root = `tree${runs++}`;
        mkdirSync(join(ctx.folder, root));
        for (const [file, lines] of Object.entries(files)) ctx.write(`${root}/${file}`, lines.join("\n"));
        const expected = Object.entries(files)
          .flatMap(([file, lines]) =>
            lines
              .join("\n")
              .replace(/\n$/, "")
              .split("\n")
              .flatMap((text, index) =>
                new RegExp(source).test(text) ? [`${root}/${file}:${index + 1}`] : [],
              ),
          )
          .sort();
        expect(places(await find({ pattern: source, path: root, limit: 1000 })).sort()).toEqual(expected);
        rmSync(join(ctx.folder, root), { recursive: true });
      }),
      { numRuns: 25 },
    );
  });
});

describe("ripgrep's own abilities", () => {
  it("skips what git ignores", async () => {
    mkdirSync(join(ctx.folder, ".git"));
    ctx.write(".gitignore", "dist/\n");
    ctx.write("dist/a.js", "x\n");
    ctx.write("src/a.js", "x\n");
    expect(places(await search({ pattern: "x" }))).toEqual(["src/a.js:1"]);
    expect(places(await search({ pattern: "x", path: "dist" }))).toEqual(["dist/a.js:1"]);
  });

  it("look-around and patterns over several lines work", async () => {
    ctx.write("a.txt", "foobar\nfoobaz\n");
    expect(places(await search({ pattern: "foo(?=baz)" }))).toEqual(["a.txt:2"]);
    expect(places(await search({ pattern: String.raw`bar\nfoo` }))).toEqual(["a.txt:1"]);
  });

  it("a result too large to count is paged in path order and marked as a lower bound", async () => {
    for (const name of ["a", "b", "c"]) ctx.write(`${name}.txt`, "x\n".repeat(15_000));
    const result = await search({ pattern: "x", limit: 3, offset: 14_999 });
    expect(places(result)).toEqual(["a.txt:15000", "b.txt:1", "b.txt:2"]);
    expect(result).toMatchObject({ total_count_is_lower_bound: true, truncated: true });
    expect(result.total_count).toBeGreaterThan(20_000);
  });

  it("long lines are shown around the match", async () => {
    ctx.write("a.txt", `${"é".repeat(3000)}needle${"z".repeat(3000)}\n`);
    const [match] = (await search({ pattern: "needle" })).matches as Match[];
    expect(match?.content).toContain("needle");
    expect(match?.content.length).toBeLessThan(600);
    expect(match?.content).toContain("[line of 6006 characters]");
  });

  it("files it may not read do not spoil the rest", async () => {
    const locked = ctx.write("locked.txt", "x\n");
    chmodSync(locked, 0);
    ctx.write("open.txt", "x\n");
    expect(places(await search({ pattern: "x" }))).toContain("open.txt:1");
    chmodSync(locked, 0o644);
  });

  it("links are not followed out of the folder", async () => {
    ctx.write("outside/a.txt", "x\n");
    mkdirSync(join(ctx.folder, "inside"));
    symlinkSync(join(ctx.folder, "outside"), join(ctx.folder, "inside/link"));
    expect((await search({ pattern: "x", path: "inside" })).matches).toEqual([]);
  });
});

describe("at the edges", () => {
  it("a missing path names similar ones, an empty pattern is refused", async () => {
    ctx.write("source/a.txt", "x");
    const error = await failureOf(search({ pattern: "x", path: "sorce" }));
    expect(error.hint).toContain("source");
    expect(await failureOf(search({ pattern: "" }))).toMatchObject({ code: "invalid_arguments" });
  });

  it("clamps limit, offset and context", async () => {
    ctx.write("a.txt", "x\n".repeat(3));
    expect(await search({ pattern: "x", limit: -1, offset: -4, context: -2 })).toMatchObject({
      total_count: 3,
    });
    expect(places(await search({ pattern: "x", limit: -1 }))).toHaveLength(1);
    expect(await search({ pattern: "x", offset: 50 })).toMatchObject({
      matches: [],
      hint: expect.stringContaining("3"),
    });
  });

  it("warns at the third identical search and blocks the fourth", async () => {
    ctx.write("a.txt", "x\n");
    const again = () => call(searchTool, { pattern: "x" }, ctx);
    expect(await again()).not.toHaveProperty("_warning");
    expect(await again()).not.toHaveProperty("_warning");
    expect(await again()).toHaveProperty("_warning");
    expect(await failureOf(again())).toMatchObject({ code: "blocked" });
    ctx.write("b.txt", "x\n");
    expect(await again()).toMatchObject({ total_count: 2 });
  });

  it("a cancelled search ends", async () => {
    ctx.write("a.txt", "x\n");
    await expect(search({ pattern: "x" }, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });

  it("file_search means fuzzy file names", () => {
    const rewrite = searchTool.aliasArguments?.file_search;
    expect(rewrite?.({ pattern: "a" })).toEqual({ target: "files", fuzzy: true, pattern: "a" });
    expect(rewrite?.({ query: "a", fuzzy: false })).toEqual({ target: "files", fuzzy: false, pattern: "a" });
  });

  it("effects name the searched folder", () => {
    const args = {
      pattern: "x",
      path: ".",
      target: "content",
      limit: 1,
      offset: 0,
      output_mode: "content",
      context: 0,
      fuzzy: false,
    } as const;
    expect(searchTool.effects?.(args, { cwd: "/w", environment: "local" })).toMatchObject([
      { action: "file:read", resource: "/w", mode: "read" },
    ]);
  });

  it("a model gets many matches grouped by file", async () => {
    ctx.write("a.txt", "x1\nx2\nx3\n");
    ctx.write("b.txt", "x4\nx5\n");
    const out = await search({ pattern: "x" });
    const shown = searchTool.present?.(out as never);
    const [part] = shown?.model ?? [];
    expect(part?.type === "text" && JSON.parse(part.text)).toMatchObject({
      matches: "a.txt\n  1: x1\n  2: x2\n  3: x3\nb.txt\n  1: x4\n  2: x5",
      total_count: 5,
    });
    expect(shown?.human).toContain("a.txt");
  });
});
