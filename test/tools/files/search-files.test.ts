import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalEnvironment } from "../../../src/env/local/local.js";
import { plainText, renderMarks } from "../../../src/tool/marked-text.js";
import searchTool from "../../../src/tools/files/search-files.js";
import { needs } from "../../support/needs.js";
import {
  call,
  type Fields,
  type FileTestContext,
  failureOf,
  inAnotherSession,
  makeFileContext,
} from "./support.js";

let ctx: FileTestContext;
beforeEach(() => {
  ctx = makeFileContext();
});
afterEach(() => ctx.cleanUp());

/** A fresh session each time: repeating a search is tested on its own. */
const search = (args: Fields, changes: Fields = {}) =>
  call(searchTool, args, { ...inAnotherSession(ctx), ...changes });
const WITHOUT_RIPGREP = { settings: { ripgrep_path: "/nonexistent/rg" } };

/** Nothing but busybox on PATH, as in a small container. */
const BUSYBOX = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "busybox"))
  .find((program) => existsSync(program));
const APPLETS = ["sh", "grep", "find", "tr", "cmp", "stat"];

function busyboxTools(): { changes: Fields; end(): Promise<void> } {
  const bin = join(ctx.folder, "home", "bin");
  mkdirSync(bin);
  for (const name of APPLETS) symlinkSync(BUSYBOX ?? "", join(bin, name));
  const environment = createLocalEnvironment({
    env: { ...process.env, PATH: bin, HOME: ctx.home },
    launcher: false,
  });
  return { changes: { ...WITHOUT_RIPGREP, environment }, end: () => environment.close() };
}

interface Match {
  path: string;
  line: number;
  content: string;
}
const places = (result: Fields) => (result.matches as Match[]).map(({ path, line }) => `${path}:${line}`);

describe.each([
  ["ripgrep", {}],
  ["grep and find", WITHOUT_RIPGREP],
  ["busybox", WITHOUT_RIPGREP],
])("with %s", (programs, given) => {
  let tools: Fields = given;
  let endTools = async () => {};
  const find = (args: Fields) => search(args, tools);

  beforeEach((test) => {
    if (programs !== "busybox") return;
    if (BUSYBOX === undefined) return needs(test, "busybox");
    const busybox = busyboxTools();
    tools = busybox.changes;
    endTools = busybox.end;
  });
  afterEach(() => endTools());

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
    expect((await find({ pattern: "hit", context: 1 })).matches).toMatchObject([
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
    expect(await files("*.js, test/*.ts")).toEqual(["a.js", "test/b.ts"]);
    expect(await files("!b.ts")).toEqual(["a.js", "a.ts"]);
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
    expect((await find({ pattern: "token", path: ".env" })).matches).toEqual([]);
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

  it("a letter is one character, however many bytes it has", async () => {
    const lines = ["aéb", "aéèb", "éb", "ab", "éé", "a°b", "x", "€]", "a😀b", "ü-"];
    ctx.write("a.txt", lines.join("\n"));
    const patterns = ["a.b", "a..b", "^.b$", "[^a]b", "^é+$", "^[éx]$", "^[éx]+$", "^.{2}$"];
    for (const pattern of [...patterns, String.raw`^[^\]a]\]$`, "^a[^x-z]b$", "😀?b"]) {
      const meant = new RegExp(pattern, "u");
      const expected = lines.flatMap((line, index) => (meant.test(line) ? [`a.txt:${index + 1}`] : []));
      expect(places(await find({ pattern, path: "a.txt" })), pattern).toEqual(expected);
    }
  });

  it("finds the same as a plain search over any tree", async () => {
    const name = fc.constantFrom("a", "b.txt", "c.md", ".d", "e f", "ü");
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join("/")}.x`);
    const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "."), maxLength: 6 });
    const tree = fc.dictionary(path, fc.array(line, { maxLength: 5 }), { maxKeys: 6 });
    const pattern = fc.constantFrom(
      "a",
      "b+",
      "a.b",
      "[^a]b",
      "é+$",
      "^a",
      "é$",
      "a|b",
      "[ab] ",
      String.raw`\.`,
      "(a)b",
    );
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
      { numRuns: programs === "ripgrep" ? 25 : 10 },
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

  it.each([
    ["too large to keep", 15_000],
    ["too large to read", 60_000],
  ])("a result %s is counted exactly and paged in path order", async (_, each) => {
    for (const name of ["a", "b", "c"]) ctx.write(`${name}.txt`, "x\n".repeat(each));
    const result = await search({ pattern: "x", limit: 3, offset: 2 * each - 1, context: 1 });
    expect(places(result)).toEqual([`b.txt:${each}`, "c.txt:1", "c.txt:2"]);
    expect(result).toMatchObject({ total_count: 3 * each, truncated: true });
    expect(result).not.toHaveProperty("total_count_is_lower_bound");
  });

  it("without ripgrep a result too large to count is a lower bound", async () => {
    ctx.write("a.txt", "x\n".repeat(30_000));
    const result = await search({ pattern: "x" }, WITHOUT_RIPGREP);
    expect(result).toMatchObject({ total_count_is_lower_bound: true, truncated: true });
    expect(result.total_count).toBeGreaterThan(20_000);
  });

  it("a glob does not bring ignored files back", async () => {
    mkdirSync(join(ctx.folder, ".git"));
    ctx.write(".gitignore", "*.min.js\n");
    for (const path of ["src/a.js", "src/a.min.js"]) ctx.write(path, "x\n");
    for (const file_glob of ["*.js", "src/*.js", "**/*.min.js,*.js"]) {
      expect(places(await search({ pattern: "x", file_glob }))).toEqual(["src/a.js:1"]);
    }
    expect((await search({ pattern: "*.js", target: "files" })).files).toEqual(["src/a.js"]);
    expect((await search({ pattern: "amin", target: "files", fuzzy: true })).files).toEqual([]);
  });

  it("a broken glob is explained", async () => {
    ctx.write("a.txt", "x\n");
    const error = await failureOf(search({ pattern: "x", file_glob: "[z-a].txt" }));
    expect(error.code).toBe("invalid_arguments");
  });

  it("hundreds of files are listed newest first", async () => {
    const names = Array.from({ length: 150 }, (_, index) => `f${index}.ts`);
    for (const [index, name] of names.entries())
      utimesSync(ctx.write(name, ""), 1, 1000 + ((index * 7) % 150));
    const age = (name: string) => (Number(name.slice(1, -3)) * 7) % 150;
    const { files, sorted_by } = await search({ pattern: "*.ts", target: "files", limit: 150 });
    expect(files).toEqual(names.toSorted((left, right) => age(right) - age(left)));
    expect(sorted_by).toBe("newest");
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

  it("credentials stay hidden wherever the search begins, and nothing else does", async () => {
    for (const path of [
      ".ssh/known_hosts",
      ".sshd/config",
      "work/id_rsa",
      "work/ID_ED25519",
      "work/index.ts",
      "work/.envs",
    ])
      ctx.write(join("home", path), "token\n");
    const shown = async (path: string) => {
      const { files } = await search({ pattern: "token", output_mode: "files_only", path });
      return (files as string[]).map((file) => file.replace(/^home\//, ""));
    };
    const visible = [".sshd/config", "work/.envs", "work/index.ts"];
    expect(await shown(".")).toEqual(visible);
    expect(await shown("home")).toEqual(visible);
    expect(await shown("home/work")).toEqual(visible.slice(1));
    symlinkSync(ctx.home, join(ctx.folder, "alias"));
    expect((await search({ pattern: "token", path: "alias", output_mode: "files_only" })).files).toEqual(
      visible.map((file) => `alias/${file}`),
    );
    expect(await shown("home/.ssh")).toEqual([".ssh/known_hosts"]);
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

  it("fuzzy finding sees new files after another tool ran, and soon anyway", async () => {
    ctx.write("alpha.txt", "x");
    const files = async (previousTool?: string) => {
      const session = { ...ctx.session, ...(previousTool !== undefined && { previousTool }) };
      return (await search({ pattern: "txt", target: "files", fuzzy: true }, { session })).files;
    };
    expect(await files()).toEqual(["alpha.txt"]);
    ctx.write("beta.txt", "x");
    expect(await files("write_file")).toEqual(["beta.txt", "alpha.txt"]);
  });

  it("a person sees paths, dim numbers and what matched", async () => {
    ctx.write("a.txt", "one é two\nthree\n");
    const out = await search({ pattern: "t\\w+", context: 1, limit: 1 });
    const shown = searchTool.present?.(out as never).human ?? "";
    expect(
      renderMarks(shown, (meaning, text) => `<${meaning}:${text}>`)
        .split("\n")
        .slice(0, 3),
    ).toEqual(["<path:a.txt>", "<dim:1:> one é <strong:two>", "<dim:2-> <dim:three>"]);
    const counted = await search({ pattern: "t", output_mode: "count" });
    expect(plainText(searchTool.present?.(counted as never).human ?? "")).toContain("2  a.txt");
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
