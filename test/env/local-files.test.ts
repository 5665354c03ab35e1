import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import * as fs from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { ToolError } from "../../src/tool/errors.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-files-")));
const environment = createLocalEnvironment({ env: { ...process.env, HOME: "/home/agent" } });
const { files } = environment;
let folder = root;
let counter = 0;

beforeEach(async () => {
  counter += 1;
  folder = join(root, String(counter));
  await fs.mkdir(folder);
});
afterAll(async () => {
  await environment.close();
  rmSync(root, { recursive: true, force: true });
});

const bytes = (text: string) => new TextEncoder().encode(text);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const at = (...parts: string[]) => join(folder, ...parts);

describe("resolve", () => {
  test("makes paths absolute and expands the home folder", () => {
    expect(files.resolve("a/../b", "/x")).toBe("/x/b");
    expect(files.resolve("/abs", "/x")).toBe("/abs");
    expect(files.resolve("~", "/x")).toBe("/home/agent");
    expect(files.resolve("~/notes", "/x")).toBe("/home/agent/notes");
    expect(files.resolve("~other/notes", "/x")).toBe("/x/~other/notes");
    const plain = createLocalEnvironment({ env: {} });
    expect(plain.files.resolve("~", "/x")).toBe(homedir());
  });

  test("refuses NUL bytes and empty paths everywhere", async () => {
    expect(() => files.resolve("a\0b", "/x")).toThrow(/NUL/);
    expect(() => files.resolve("", "/x")).toThrow(/empty/);
    await expect(files.read("/a\0b")).rejects.toThrow(/NUL/);
    await expect(files.write("/a\0b", bytes(""))).rejects.toThrow(/NUL/);
    await expect(files.rename(at("a"), "/b\0")).rejects.toThrow(/NUL/);
    await expect(files.read("relative")).rejects.toThrow(/not absolute/);
  });
});

describe("realpath", () => {
  test("follows links up to the deepest existing ancestor", async () => {
    await fs.mkdir(at("real"));
    await fs.symlink(at("real"), at("link"));
    expect(await files.realpath(at("link", "new", "file"))).toBe(at("real", "new", "file"));
  });

  test("follows a dangling link to where it points", async () => {
    await fs.mkdir(at("outside"));
    await fs.symlink("outside/target", at("dangling"));
    expect(await files.realpath(at("dangling"))).toBe(at("outside", "target"));
    expect(await files.realpath(at("dangling", "deeper"))).toBe(at("outside", "target", "deeper"));
  });

  test("ends on links that lead in a circle", async () => {
    await fs.symlink(at("b"), at("a"));
    await fs.symlink(at("a"), at("b"));
    await expect(files.realpath(at("a"))).rejects.toThrow(/circle/);
  });

  test("goes through a file as if it were a folder that is not there", async () => {
    await fs.writeFile(at("file"), "");
    expect(await files.realpath(at("file", "below"))).toBe(at("file", "below"));
  });
});

describe("stat and list", () => {
  test("tell types, sizes and identity", async () => {
    await fs.writeFile(at("one"), "12345", { mode: 0o640 });
    await fs.link(at("one"), at("same"));
    await fs.symlink("nowhere", at("broken"));
    await fs.symlink("one", at("link"));
    const one = await files.stat(at("one"));
    expect(one).toMatchObject({ type: "file", size: 5, mode: 0o640 });
    expect((await files.stat(at("same")))?.inode).toBe(one?.inode);
    expect((await files.stat(at("link")))?.type).toBe("file");
    expect((await files.stat(at("broken")))?.type).toBe("symlink");
    expect((await files.stat(folder))?.type).toBe("directory");
    expect((await files.stat("/dev/null"))?.type).toBe("other");
    expect(await files.stat(at("missing"))).toBeUndefined();
    expect(await files.stat(at("one", "below"))).toBeUndefined();
    expect((await files.list(folder)).map(({ name, type }) => `${name}:${type}`)).toEqual([
      "broken:symlink",
      "link:symlink",
      "one:file",
      "same:file",
    ]);
  });

  test("of something missing says so", async () => {
    await expect(files.list(at("missing"))).rejects.toThrow(/Cannot list .*no such file or folder/);
  });
});

test("whoever looks at many files lets others have their turn", async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  for (let look = 0; look < 300; look += 1) await files.stat(folder);
  expect(turned).toBe(true);
});

describe("read", () => {
  test("gives whole files and ranges, clipped to the file", async () => {
    await fs.writeFile(at("f"), "0123456789");
    const text = async (range?: { start: number; end: number }) =>
      Buffer.from(await files.read(at("f"), range)).toString();
    expect(await text()).toBe("0123456789");
    expect(await text({ start: 2, end: 5 })).toBe("234");
    expect(await text({ start: 8, end: 100 })).toBe("89");
    expect(await text({ start: 50, end: 60 })).toBe("");
    expect(await text({ start: 5, end: 2 })).toBe("");
  });

  test("gives the content of files that claim to have no size", async () => {
    expect((await files.read("/proc/self/status")).byteLength).toBeGreaterThan(100);
  });

  test("refuses folders, devices and pipes instead of hanging", async () => {
    await environment.exec({
      command: "mkfifo pipe",
      cwd: folder,
      timeoutMs: 5_000,
      signal: new AbortController().signal,
    });
    await expect(files.read(folder)).rejects.toThrow(/is a folder/);
    await expect(files.read(at("pipe"))).rejects.toThrow(/not a regular file/);
    await expect(files.read("/dev/zero")).rejects.toThrow(/not a regular file/);
    await expect(files.stream("/dev/zero")[Symbol.asyncIterator]().next()).rejects.toThrow(/regular/);
  });

  test("streams large files in order, from any place, and can be left early", async () => {
    const content = Buffer.alloc(3_500_000, "abcdefghij");
    await fs.writeFile(at("big"), content);
    const parts: Uint8Array[] = [];
    for await (const part of files.stream(at("big"), { start: 1_000_001 })) parts.push(part);
    expect(Buffer.concat(parts).equals(content.subarray(1_000_001))).toBe(true);
    expect(parts.length).toBeGreaterThan(1);
    for await (const part of files.stream(at("big"))) {
      expect(part[0]).toBe(97);
      break;
    }
  });
});

describe("write", () => {
  test("creates a file with its folders and says so", async () => {
    const written = await files.write(at("a", "b", "c.txt"), bytes("hello"));
    expect(written).toMatchObject({ created: true, dirsCreated: true });
    expect(await fs.readFile(at("a", "b", "c.txt"), "utf8")).toBe("hello");
    expect(await files.write(at("a", "b", "c.txt"), bytes("again"))).toMatchObject({
      created: false,
      dirsCreated: false,
    });
  });

  test("keeps the mode of an existing file", async () => {
    await fs.writeFile(at("script"), "old", { mode: 0o755 });
    await files.write(at("script"), bytes("new"));
    expect((await fs.stat(at("script"))).mode & 0o777).toBe(0o755);
  });

  test("goes through a link to the real file and leaves the link", async () => {
    await fs.mkdir(at("elsewhere"));
    await fs.writeFile(at("elsewhere", "real"), "old");
    await fs.symlink("elsewhere/real", at("link"));
    await fs.symlink("elsewhere/new", at("dangling"));
    await files.write(await files.realpath(at("link")), bytes("new"));
    await files.write(await files.realpath(at("dangling")), bytes("made"));
    expect((await fs.lstat(at("link"))).isSymbolicLink()).toBe(true);
    expect(await fs.readFile(at("elsewhere", "real"), "utf8")).toBe("new");
    expect(await fs.readFile(at("elsewhere", "new"), "utf8")).toBe("made");
  });

  test("never replaces a device, a pipe or a folder", async () => {
    await expect(files.write("/dev/null", bytes("x"))).rejects.toThrow(/not a regular file/);
    await expect(files.write(folder, bytes("x"))).rejects.toThrow(/is a folder/);
    await fs.writeFile(at("file"), "");
    await expect(files.write(at("file", "below"), bytes("x"))).rejects.toThrow(/Cannot write/);
  });

  test("takes odd names and any bytes, and leaves no temporary file", async () => {
    const nameChars = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
    const names = nameChars.filter(
      (name) =>
        !/[/\0]/.test(name) &&
        ![".", ".."].includes(name) &&
        Buffer.from(name).toString() === name &&
        Buffer.byteLength(name) < 240,
    );
    await fc.assert(
      fc.asyncProperty(names, fc.uint8Array({ maxLength: 300 }), async (name, data) => {
        const home = await fs.mkdtemp(at("odd-"));
        await files.write(join(home, name), data);
        expect(Buffer.from(await files.read(join(home, name))).equals(data)).toBe(true);
        expect((await files.list(home)).map((entry) => entry.name)).toEqual([name]);
      }),
      { numRuns: 60, examples: [["-rf *\n'\"$(id)`", new Uint8Array([0, 255])]] },
    );
  });

  test("begun early, puts the bytes beside the file and waits with everything that has a name", async () => {
    await fs.writeFile(at("old.txt"), "old");
    let allow: (value?: unknown) => void = () => {};
    const ready = new Promise((resolve) => {
      allow = resolve;
    });
    const begun = files.writeWhenReady;
    if (begun === undefined) throw new Error("this machine's files can be prepared");
    const replaced = begun(at("old.txt"), bytes("new"), { ready });
    const created = begun(at("made", "new.txt"), bytes("new"), { ready });
    const temporary = async () => (await fs.readdir(folder)).filter((name) => name.startsWith(".hermes-"));
    await expect.poll(temporary).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await fs.readFile(at("old.txt"), "utf8")).toBe("old");
    expect(existsSync(at("made"))).toBe(false);
    allow();
    expect(await replaced).toMatchObject({ created: false });
    expect(await created).toMatchObject({ created: true, dirsCreated: true });
    expect(await fs.readFile(at("old.txt"), "utf8")).toBe("new");
    expect(await temporary()).toEqual([]);

    const refused = Promise.reject(new ToolError("not journaled"));
    await expect(begun(at("old.txt"), bytes("newer"), { ready: refused })).rejects.toThrow("not journaled");
    expect(await fs.readFile(at("old.txt"), "utf8")).toBe("new");
    expect(await temporary()).toEqual([]);
  });

  test("fails with a reason and leaves nothing when the name is too long", async () => {
    await expect(files.write(at("x".repeat(300)), bytes("x"))).rejects.toThrow(/name is too long/);
    expect(await fs.readdir(folder)).toEqual([]);
  });
});

describe("compare and swap", () => {
  const conflictOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(() => undefined).catch((thrown: unknown) => thrown);
    return ToolError.isInstance(error) ? error.details : error;
  };

  test("writes only over the expected content", async () => {
    await fs.writeFile(at("f"), "one");
    await files.write(at("f"), bytes("two"), { expected: { sha256: sha256("one") } });
    expect(
      await conflictOf(files.write(at("f"), bytes("three"), { expected: { sha256: sha256("one") } })),
    ).toMatchObject({ conflict: true, actual_sha256: sha256("two") });
    expect(await fs.readFile(at("f"), "utf8")).toBe("two");
    expect(await fs.readdir(folder)).toEqual(["f"]);
  });

  test("creates only where nothing is, and notices a deleted file", async () => {
    await files.write(at("new"), bytes("1"), { expected: { sha256: undefined } });
    expect(
      await conflictOf(files.write(at("new"), bytes("2"), { expected: { sha256: undefined } })),
    ).toMatchObject({ conflict: true });
    expect(
      await conflictOf(files.write(at("gone"), bytes("2"), { expected: { sha256: sha256("x") } })),
    ).toMatchObject({ conflict: true, actual_sha256: null });
    expect(existsSync(at("gone"))).toBe(false);
  });

  test("of many writers that saw the same content exactly one wins", async () => {
    await fs.writeFile(at("f"), "start");
    await fs.symlink("f", at("alias"));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        files
          .realpath(at(index % 2 ? "f" : "alias"))
          .then((real) =>
            files.write(real, bytes(`writer ${index}`), { expected: { sha256: sha256("start") } }),
          ),
      ),
    );
    const winners = outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(await fs.readFile(at("f"), "utf8")).toBe(`writer ${winners[0]}`);
  });

  test("of many creators exactly one wins", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        files.write(at("made"), bytes(String(index)), { expected: { sha256: undefined } }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
  });
});

test("a reader never sees a half-written file while writers replace it", async () => {
  const versions = ["a", "b", "c", "d"].map((letter) => Buffer.alloc(200_000, letter));
  await files.write(at("f"), versions[0] ?? Buffer.alloc(0));
  let writing = true;
  const writers = Promise.all(
    versions.map(async (version) => {
      for (let round = 0; round < 5; round += 1) await files.write(at("f"), version);
    }),
  ).finally(() => {
    writing = false;
  });
  while (writing) {
    const seen = Buffer.from(await files.read(at("f")));
    expect(versions.some((version) => version.equals(seen))).toBe(true);
  }
  await writers;
  expect(await fs.readdir(folder)).toEqual(["f"]);
});

describe("remove and rename", () => {
  test("remove takes away a file, a link itself, an empty folder", async () => {
    await fs.writeFile(at("target"), "");
    await fs.symlink("target", at("link"));
    await fs.mkdir(at("full"));
    await fs.writeFile(at("full", "x"), "");
    await files.remove(at("link"));
    expect(existsSync(at("target"))).toBe(true);
    await expect(files.remove(at("full"))).rejects.toThrow(/not empty/);
    await files.remove(at("full", "x"));
    await files.remove(at("full"));
    await expect(files.remove(at("missing"))).rejects.toThrow(/no such file/);
  });

  test("rename makes the folders it needs", async () => {
    await fs.writeFile(at("from"), "content");
    await files.rename(at("from"), at("deep", "er", "to"));
    expect(await fs.readFile(at("deep", "er", "to"), "utf8")).toBe("content");
    await expect(files.rename(at("missing"), at("x", "y"))).rejects.toThrow(/no such file/);
    expect(existsSync(at("x"))).toBe(false);
  });

  test.skipIf(!existsSync("/dev/shm"))("rename works from one file system to another", async () => {
    const elsewhere = await fs.mkdtemp("/dev/shm/hermes-");
    try {
      await fs.writeFile(join(elsewhere, "f"), "moved", { mode: 0o700 });
      await files.rename(join(elsewhere, "f"), at("f"));
      expect(await fs.readFile(at("f"), "utf8")).toBe("moved");
      expect((await fs.stat(at("f"))).mode & 0o777).toBe(0o700);
      expect(await fs.readdir(elsewhere)).toEqual([]);
    } finally {
      await fs.rm(elsewhere, { recursive: true });
    }
  });
});
