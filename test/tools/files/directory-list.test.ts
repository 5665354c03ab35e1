import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainText } from "../../../src/tool/marked-text.js";
import tool from "../../../src/tools/files/directory-list.js";
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

const list = (args: Fields = {}) => call(tool, { git: false, path: "p", ...args }, ctx);
const paths = (out: Fields) => (out.entries as { path: string }[]).map(({ path }) => path);

describe("the tree", () => {
  it("goes as deep as asked, folders first, with sizes of files", async () => {
    ctx.write("p/b.txt", "12345");
    ctx.write("p/a/deep/x.txt", "1");
    ctx.write("p/a/y.txt", "x".repeat(1536));
    expect(await list()).toMatchObject({
      success: true,
      status: "success",
      tree: "a/\n  deep/\n  y.txt  1.5K\nb.txt  5B",
      total: 4,
      truncated: false,
    });
    expect(paths(await list({ depth: 1 }))).toEqual(["a", "b.txt"]);
    expect(paths(await list({ depth: 3 }))).toContain("a/deep/x.txt");
  });

  it("leaves hidden names out unless they are asked for", async () => {
    ctx.write("p/.config/x", "1");
    ctx.write("p/a", "1");
    expect(await list()).toMatchObject({ total: 1, hidden: 1 });
    expect(paths(await list({ show_hidden: true }))).toEqual([".config", "a", ".config/x"]);
  });

  it("a pattern keeps what fits and the folders on the way to it in the picture", async () => {
    ctx.write("p/src/a.ts", "");
    ctx.write("p/src/a.js", "");
    ctx.write("p/docs/a.md", "");
    const out = await list({ pattern: "*.ts" });
    expect(paths(out)).toEqual(["src/a.ts"]);
    expect(out.tree).toBe("src/\n  a.ts  0B");
    expect(paths(await list({ pattern: "docs/*" }))).toEqual(["docs/a.md"]);
  });

  it("sorts by size and by time, within each folder", async () => {
    for (const [name, size, age] of [
      ["small", 1, 10],
      ["large", 100, 30],
      ["middle", 50, 20],
    ] as const) {
      const path = ctx.write(`p/${name}`, "x".repeat(size));
      utimesSync(path, new Date(1e12 - age * 1000), new Date(1e12 - age * 1000));
    }
    expect(paths(await list({ sort: "size" }))).toEqual(["large", "middle", "small"]);
    const newest = await list({ sort: "mtime" });
    expect(paths(newest)).toEqual(["small", "middle", "large"]);
    expect(newest.tree).toContain("small  1B  2001-09-09");
  });

  it("a limit stops the walk, upper levels first, and says so", async () => {
    for (let folder = 0; folder < 40; folder++) {
      for (let file = 0; file < 5; file++) ctx.write(`p/f${folder}/n${file}`, "");
    }
    const out = await list({ limit: 45, depth: 5 });
    expect(paths(out)).toHaveLength(45);
    expect(paths(out).filter((path) => !path.includes("/"))).toHaveLength(40);
    expect(out).toMatchObject({ truncated: true, total_is_lower_bound: true, hint: expect.any(String) });
  });

  it("adds up folders when asked", async () => {
    ctx.write("p/a/x", "12345");
    ctx.write("p/a/b/y", "123");
    symlinkSync(ctx.write("big", "x".repeat(5000)), join(ctx.folder, "p/a/link"));
    const out = await list({ sizes: true });
    expect(out.entries).toContainEqual(expect.objectContaining({ path: "a", size: 8 }));
    expect(out.entries).toContainEqual(expect.objectContaining({ path: "a/b", size: 3 }));
  });

  it("names cannot draw lines of their own", async () => {
    ctx.write("p/evil\nfake.txt", "");
    const out = await list();
    expect(out.tree).toBe("evil\\u{a}fake.txt  0B");
    expect(plainText(tool.present?.(out as never)?.human ?? "")).toContain("└── evil\\u{a}fake.txt");
  });
});

describe("links and what cannot be read", () => {
  it("links are shown with where they lead, and never followed", async () => {
    ctx.write("outside/secret.txt", "x");
    ctx.write("p/real/a.txt", "x");
    symlinkSync(join(ctx.folder, "outside"), join(ctx.folder, "p/out"));
    symlinkSync(join(ctx.folder, "p"), join(ctx.folder, "p/real/up"));
    symlinkSync("real/a.txt", join(ctx.folder, "p/in"));
    const out = await list({ depth: 9 });
    expect(paths(out).sort()).toEqual(["in", "out", "real", "real/a.txt", "real/up"]);
    expect(out.entries).toContainEqual({ path: "out", type: "symlink", target: join(ctx.folder, "outside") });
    expect(out.entries).toContainEqual({ path: "in", type: "symlink", target: "real/a.txt" });
  });

  it("a folder that may not be read is named, not fatal", async () => {
    ctx.write("p/closed/x", "");
    // Nothing is closed to root, so the folder closes itself here.
    const { files } = ctx.environment;
    const closing = {
      ...files,
      list: (path: string) =>
        path.endsWith("/closed") ? Promise.reject(new Error("closed")) : files.list(path),
    };
    const there = { ...ctx, environment: { ...ctx.environment, files: closing } };
    expect(await call(tool, { path: "p", git: false }, there)).toMatchObject({
      total: 1,
      unreadable: ["closed"],
    });
  });

  it("what is missing names similar ones, and a file is not a folder", async () => {
    mkdirSync(join(ctx.folder, "sources"));
    ctx.write("a.txt", "");
    expect((await failureOf(list({ path: "source" }))).hint).toContain("sources");
    expect(await failureOf(list({ path: "a.txt" }))).toMatchObject({
      code: "invalid_arguments",
      hint: expect.stringContaining("read_file"),
    });
  });
});

describe("what git ignores", () => {
  it("is left out by the nearest rules, and shown on request", async () => {
    ctx.write("p/.gitignore", "*.log\nbuild/\n");
    ctx.write("p/build/x", "");
    ctx.write("p/a.log", "");
    ctx.write("p/keep/.gitignore", "!b.log\n");
    ctx.write("p/keep/b.log", "");
    ctx.write("p/keep/c.log", "");
    expect(await list()).toMatchObject({ tree: "keep/\n  b.log  0B", ignored: 3 });
    const all = await list({ show_ignored: true });
    expect(paths(all)).toEqual(["build", "keep", "a.log", "build/x", "keep/b.log", "keep/c.log"]);
    expect(all.entries).toContainEqual(expect.objectContaining({ path: "a.log", ignored: true }));
  });

  it("rules of the folders above count, except for one who asks for an ignored folder itself", async () => {
    ctx.write(".gitignore", "node_modules\n*.tmp\n");
    ctx.write("p/sub/a.tmp", "");
    ctx.write("p/sub/a.ts", "");
    ctx.write("node_modules/left/index.js", "");
    expect(paths(await list({ path: "p/sub" }))).toEqual(["a.ts"]);
    expect(paths(await list({ path: "node_modules" }))).toEqual(["left", "left/index.js"]);
  });

  it("through a session, the rules above are among what the call may read", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    execFileSync("sh", ["-c", "mkdir -p a/b && echo '*.tmp' > .gitignore && touch a/b/x.tmp a/b/y"], { cwd });
    const session = await runtime.openSession();
    const result = await session.call({ name: "directory_list", arguments: { path: "a/b" } });
    expect(result.structured).toMatchObject({ tree: "y  0B", ignored: 1 });
  });
});

describe("git status", () => {
  beforeEach((context) => needs(context, "git"));

  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: join(ctx.folder, "p"),
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    });

  it("marks files, and folders with changes below", async () => {
    ctx.write("p/sub/changed.txt", "1");
    ctx.write("p/sub/same.txt", "1");
    ctx.write("p/gone.txt", "1");
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "x");
    ctx.write("p/sub/changed.txt", "22");
    ctx.write("p/new/n.txt", "");
    ctx.write("p/added.txt", "");
    git("add", "added.txt");
    git("rm", "-q", "gone.txt");
    const out = await list({ git: true });
    const words = Object.fromEntries(
      (out.entries as { path: string; git?: string }[]).map((entry) => [entry.path, entry.git]),
    );
    expect(words).toEqual({
      new: "untracked",
      "new/n.txt": "untracked",
      sub: "modified",
      "sub/changed.txt": "modified",
      "sub/same.txt": undefined,
      "added.txt": "added",
    });
    expect(out.git).toEqual({ branch: "main", changed: 4, deleted: ["gone.txt"] });
    expect(paths(await list({ git: true, path: "p/sub" }))).toEqual(["changed.txt", "same.txt"]);
    expect((await list({ git: true, path: "p/sub" })).entries).toContainEqual(
      expect.objectContaining({ path: "changed.txt", git: "modified" }),
    );
  });

  it("runs none of the programs that a repository names", async () => {
    ctx.write("p/a.txt", "1");
    ctx.write("p/.gitattributes", "* filter=evil\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "x");
    const trap = `touch ${join(ctx.folder, "trapped")}; cat`;
    git("config", "filter.evil.clean", trap);
    git("config", "core.fsmonitor", `${trap} #`);
    ctx.write("p/a.txt", "2");
    expect((await list({ git: true })).entries).toContainEqual(
      expect.objectContaining({ path: "a.txt", git: "modified" }),
    );
    expect(() => ctx.read("trapped")).toThrow(/ENOENT/);
  });

  it("outside of a repository there is none, and nothing fails", async () => {
    ctx.write("p/a.txt", "1");
    const out = await call(tool, { path: "p" }, ctx);
    expect(out).toMatchObject({ success: true, total: 1 });
    expect(out).not.toHaveProperty("git");
  });
});

it("effects name the folder and the rules between it and the working folder", () => {
  const scope = { cwd: "/w", environment: "local" };
  const effects = tool.effects?.(withDefaults(tool, { path: "a/b" }) as never, scope) ?? [];
  expect(effects.map(({ resource, mode }) => `${mode} ${resource}`)).toEqual([
    "read /w/a/b",
    "read /w/a/.gitignore",
    "read /w/.gitignore",
  ]);
  expect(tool.effects?.(withDefaults(tool, { path: "/etc" }) as never, scope)).toHaveLength(1);
});

it.each(["/", "//", "/w/", "/w/."])("effects end also where the working folder is written as %s", (cwd) => {
  const effects = tool.effects?.(withDefaults(tool, { path: "/w/a" }) as never, {
    cwd,
    environment: "docker",
  });
  expect(effects?.at(-1)?.resource).toBe(cwd.startsWith("/w") ? "/w/.gitignore" : "/.gitignore");
});
