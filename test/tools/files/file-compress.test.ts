import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { tarEnd, tarHeader, tarPadding } from "../../../src/env/remote/tar-writer.js";
import { plainText } from "../../../src/tool/marked-text.js";
import { FORMATS } from "../../../src/tools/files/compress/formats.js";
import tool from "../../../src/tools/files/file-compress.js";
import { notInstalled } from "../../support/needs.js";
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

/** Older versions of Node need a program for zst. */
const noZstd = "createZstdCompress" in zlib ? undefined : notInstalled("zstd");
const cannot = (format: string) => format.endsWith("zst") && noZstd !== undefined;

const run = (args: Fields) => call(tool, args, ctx);
const compress = (args: Fields) => run({ action: "compress", ...args });
const decompress = (args: Fields) => run({ action: "decompress", ...args });
const at = (path: string) => join(ctx.folder, path);

interface TestMember {
  readonly name: string;
  readonly data?: string | Buffer;
  readonly mode?: number;
  /** Letter of the kind in a tar header. */
  readonly letter?: string;
  readonly target?: string;
}

/** A tar with whatever names and kinds a test wants, also those no honest program writes. */
function tarOf(members: readonly TestMember[]): Buffer {
  const parts = members.flatMap(({ name, data = "", mode = 0o644, letter, target }) => {
    const bytes = Buffer.from(data);
    const header = tarHeader({
      name: Buffer.from(name),
      type: name.endsWith("/") ? "directory" : "file",
      size: bytes.length,
      mode,
      mtimeMs: 1e12,
      ...(target !== undefined && { target: Buffer.from(target) }),
    });
    if (letter !== undefined) {
      header.write(letter, 156, "latin1");
      header.write(" ".repeat(8), 148);
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
    }
    return [header, bytes, tarPadding(bytes.length)];
  });
  return Buffer.concat([...parts, tarEnd()]);
}

/** Names are put in afterwards: the writer refuses the bad ones itself. */
async function zipOf(members: readonly TestMember[]): Promise<Buffer> {
  const zip = new ZipFile();
  members.forEach(({ name, data = "", mode = 0o100644 }, index) => {
    const stand = `${index}`.padEnd(Buffer.byteLength(name), "_");
    zip.addBuffer(Buffer.from(data), stand, { mode });
  });
  zip.end();
  const parts: Buffer[] = [];
  for await (const part of zip.outputStream) parts.push(part as Buffer);
  let bytes = Buffer.concat(parts).toString("latin1");
  members.forEach(({ name }, index) => {
    const stand = `${index}`.padEnd(Buffer.byteLength(name), "_");
    bytes = bytes.replaceAll(stand, Buffer.from(name).toString("latin1"));
  });
  return Buffer.from(bytes, "latin1");
}

describe("a round trip", () => {
  it.for(FORMATS.filter((format) => format !== "gz" && format !== "zst"))("%s", async (format, { skip }) => {
    skip(cannot(format), noZstd);
    ctx.write("tree/a.txt", "hello\n".repeat(1000));
    ctx.write("tree/sub/bin.dat", Buffer.from([0, 255, 1, 254]));
    ctx.write("tree/sub/Grüße.txt", "ü");
    chmodSync(ctx.write("tree/run.sh", "#!/bin/sh\n"), 0o4755);
    mkdirSync(at("tree/empty"));
    ctx.write(`tree/${"long/".repeat(30)}end.txt`, "deep");
    const packed = await compress({ paths: ["tree"], archive: `out.${format}` });
    expect(packed).toMatchObject({ success: true, format, archive: at(`out.${format}`), entries: 38 });
    expect(packed.bytes_out).toBe(statSync(at(`out.${format}`)).size);
    const unpacked = await decompress({ archive: `out.${format}`, output: "copy" });
    expect(unpacked).toMatchObject({ output: at("copy"), bytes_in: packed.bytes_out });
    for (const name of ["a.txt", "sub/bin.dat", "sub/Grüße.txt", "run.sh", `${"long/".repeat(30)}end.txt`]) {
      expect(readFileSync(at(`copy/tree/${name}`))).toEqual(readFileSync(at(`tree/${name}`)));
    }
    expect(readdirSync(at("copy/tree/empty"))).toEqual([]);
    expect(statSync(at("copy/tree/run.sh")).mode & 0o7777).toBe(0o755);
    expect(statSync(at("copy/tree/a.txt")).mode & 0o111).toBe(0);
  });

  it.for(["gz", "zst"] as const)("%s holds one file", async (format, { skip }) => {
    skip(cannot(format), noZstd);
    ctx.write("a.log", "line\n".repeat(5000));
    await compress({ paths: ["a.log"], archive: `a.log.${format}` });
    expect(await decompress({ archive: `a.log.${format}`, output: "b.log" })).toMatchObject({ entries: 1 });
    expect(ctx.read("b.log")).toBe(ctx.read("a.log"));
    mkdirSync(at("into"));
    expect(await decompress({ archive: `a.log.${format}`, output: "into" })).toMatchObject({
      output: at("into/a.log"),
    });
    ctx.write("b/c", "");
    expect(await failureOf(compress({ paths: ["b"], archive: `b.${format}` }))).toMatchObject({
      code: "invalid_arguments",
      hint: expect.stringContaining(`tar.${format}`),
    });
  });

  it("any content survives any format", async () => {
    const files = fc.uniqueArray(
      fc.tuple(fc.stringMatching(/^[a-z]{1,6}(\/[a-z]{1,6}){0,2}$/), fc.uint8Array({ maxLength: 2000 })),
      { selector: ([name]) => name, minLength: 1, maxLength: 6 },
    );
    let round = 0;
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom("zip", "tar", "tar.gz"), async (made, format) => {
        const folder = `r${++round}`;
        const usable = made.filter(
          ([name]) => !made.some(([other]) => other !== name && other.startsWith(`${name}/`)),
        );
        for (const [name, data] of usable) ctx.write(`${folder}/in/${name}`, data);
        await compress({ paths: [`${folder}/in`], archive: `${folder}/x.${format}` });
        await decompress({ archive: `${folder}/x.${format}`, output: `${folder}/out` });
        for (const [name, data] of usable) {
          expect(new Uint8Array(readFileSync(at(`${folder}/out/${folder}/in/${name}`)))).toEqual(data);
        }
      }),
      { numRuns: 15 },
    );
  });

  it("other programs read what is written here, and the other way round", async () => {
    ctx.write("t/a.txt", "one");
    chmodSync(ctx.write("t/x", "two"), 0o755);
    await compress({ paths: ["t"], archive: "t.tar.gz" });
    const shown = execFileSync("tar", ["-tvzf", at("t.tar.gz")], { encoding: "utf8" });
    expect(shown).toMatch(/-rwxr-xr-x .* t\/x/);
    execFileSync("tar", ["-C", ctx.folder, "-czf", at("made.bin"), "t"]);
    expect(await run({ action: "list", archive: "made.bin" })).toMatchObject({
      format: "tar.gz",
      entries: 3,
    });
  });
});

describe("compressing", () => {
  it("a folder above credentials leaves them out, also those a person is only asked about", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession();
    for (const [path, text] of Object.entries({
      "x/.ssh/id_rsa": "key",
      "x/.env.local": "K=1",
      "x/a.txt": "1",
    })) {
      mkdirSync(join(cwd, path, ".."), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
    const packed = await session.call({
      name: "file_compress",
      arguments: { action: "compress", paths: ["x"] },
    });
    const { skipped = [] } = packed.structured as { skipped?: { path: string }[] };
    expect(skipped.map(({ path }) => path.slice(cwd.length + 1)).sort()).toEqual([
      "x/.env.local",
      "x/.ssh/id_rsa",
    ]);
    mkdirSync(join(cwd, "empty"));
    const compared = await session.call({ name: "file_diff", arguments: { a: "empty", b: "x" } });
    expect(JSON.stringify(compared.structured)).toContain("holds credentials, not shown");
    expect(JSON.stringify(compared)).not.toMatch(/K=1|\+key/);
    const named = await session.call({
      name: "file_compress",
      arguments: { action: "compress", paths: ["x/.ssh"], archive: "k.zip" },
    });
    expect(named.error?.code).toBe("denied");
  });

  it("leaves links, secrets, itself and what is excluded out, and says so", async () => {
    ctx.write("p/a.txt", "1");
    ctx.write("p/.env", "SECRET=1");
    ctx.write("p/node_modules/x/index.js", "1");
    symlinkSync("/etc/passwd", at("p/link"));
    const out = await compress({ paths: ["p"], archive: "p/self.zip", exclude: ["node_modules"] });
    expect(out.skipped).toEqual([
      { path: at("p/.env"), why: "holds credentials; name it to be asked about it" },
      { path: at("p/link"), why: "a link" },
    ]);
    const again = await compress({
      paths: ["p"],
      archive: "p/self.zip",
      exclude: ["node_modules"],
      overwrite: true,
    });
    expect(again.entries).toBe(out.entries);
    const { members } = await run({ action: "list", archive: "p/self.zip" });
    expect((members as { name: string }[]).map(({ name }) => name)).toEqual(["p/", "p/a.txt"]);
  });

  it("refuses an archive that is there", async () => {
    ctx.write("a", "1");
    ctx.write("x.zip", "precious");
    expect((await failureOf(compress({ paths: ["a"], archive: "x.zip" }))).hint).toContain("overwrite");
    expect(ctx.read("x.zip")).toBe("precious");
  });

  it("names the archive after the first path", async () => {
    ctx.write("src/a", "1");
    expect(await compress({ paths: ["src/"] })).toMatchObject({ archive: at("src.zip"), format: "zip" });
    expect(await compress({ paths: ["src"], format: "tar.gz" })).toMatchObject({ archive: at("src.tar.gz") });
  });
});

/** Nothing but the archive itself may lie in the folder afterwards. */
async function refused(name: string, bytes: Uint8Array, args: Fields = {}) {
  ctx.write(name, bytes);
  const before = readdirSync(ctx.folder, { recursive: true }).sort();
  const error = await failureOf(decompress({ archive: name, output: "out", ...args }));
  expect(readdirSync(ctx.folder, { recursive: true }).sort()).toEqual(before);
  return error;
}

describe("archives that are refused, with nothing left behind", () => {
  const names = [
    "../evil.txt",
    "ok/../../evil.txt",
    "/abs.txt",
    "C:/windows.txt",
    "a\\..\\..\\evil.txt",
    "bad\u0007name.txt",
    `${"n".repeat(256)}.txt`,
  ];
  it.each(names)("the name %j", async (name) => {
    const members = [
      { name: "good.txt", data: "good" },
      { name, data: "evil" },
    ];
    for (const [file, bytes] of [
      ["x.tar", tarOf(members)],
      ["x.tar.gz", zlib.gzipSync(tarOf(members))],
      ["x.zip", await zipOf(members)],
    ] as const) {
      const error = await refused(file, bytes);
      expect(error).toMatchObject({ code: "denied", message: expect.stringContaining("not safe") });
    }
    expect(existsSync(join(ctx.folder, "../evil.txt"))).toBe(false);
  });

  it("symbolic and hard links, also those that a later entry would be written through", async () => {
    const through = [
      { name: "sub", letter: "2", target: "../.." },
      { name: "sub/evil.txt", data: "evil" },
    ];
    expect((await refused("x.tar", tarOf(through))).message).toContain("is a link");
    expect((await refused("x.tar", tarOf(through), { skip_links: true })).message).toContain("not safe");
    const link = [{ name: "passwd", letter: "2", target: "/etc/passwd" }];
    expect((await refused("l.tar", tarOf(link))).message).toContain("is a link");
    const hard = [{ name: "hard", letter: "1", target: "good.txt" }];
    expect((await refused("h.tar", tarOf(hard))).message).toContain("is a link");
    const zipped = await zipOf([{ name: "link", data: "/etc/passwd", mode: 0o120777 }]);
    expect((await refused("x.zip", zipped)).message).toContain("/etc/passwd");
  });

  it("links can be left out on request", async () => {
    ctx.write(
      "x.tar",
      tarOf([
        { name: "l", letter: "2", target: "/" },
        { name: "a.txt", data: "a" },
      ]),
    );
    const out = await decompress({ archive: "x.tar", output: "out", skip_links: true });
    expect(out).toMatchObject({ entries: 1, skipped: [{ path: "l", why: "a link to /" }] });
    expect(readdirSync(at("out"))).toEqual(["a.txt"]);
  });

  it.each(["3", "4", "6"])("devices and pipes (kind %s)", async (letter) => {
    expect((await refused("x.tar", tarOf([{ name: "dev", letter }]))).message).toMatch(/device or pipe/);
  });

  it.each([
    ["two of one name", ["a.txt", "a.txt"]],
    ["two that differ in case", ["read.me", "READ.me"]],
    ["two spellings of an accent", ["caf\u00e9", "cafe\u0301"]],
    ["a file that is a folder elsewhere", ["a", "a/b"]],
  ])("%s", async (_what, both) => {
    const members = both.map((name) => ({ name, data: name }));
    await refused("x.tar", tarOf(members));
    expect((await refused("x.zip", await zipOf(members))).code).toBe("denied");
  });

  it("bombs: counted while unpacking, whatever the headers say", async () => {
    const zeros = Buffer.alloc(20 * 1024 * 1024);
    expect((await refused("bomb.gz", zlib.gzipSync(zeros))).message).toContain("-fold");
    expect(
      (await refused("bomb.tar.gz", zlib.gzipSync(tarOf([{ name: "z", data: zeros }])))).message,
    ).toContain("-fold");
    const zip = await zipOf([{ name: "z", data: zeros }]);
    expect((await refused("bomb.zip", zip)).message).toContain("-fold");
    // The headers now claim a hundred bytes.
    const lying = Buffer.from(zip);
    const central = lying.lastIndexOf("PK\x01\x02", undefined, "latin1");
    lying.writeUInt32LE(100, central + 24);
    expect((await refused("lying.zip", lying)).message).toMatch(/-fold|damaged/);
  });

  it("what follows the end of a tar is counted, not gathered", async () => {
    const settings = { archives: { max_unpacked_mb: 250, max_growth: 100_000 } };
    ctx.cleanUp();
    ctx = makeFileContext({ settings });
    const zeros = zlib.gzipSync(Buffer.alloc(10 * 1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 30 }, () => zeros));
    const error = await refused("bomb.tar.gz", bomb);
    expect(error.message).toContain("more than 250 MiB");
    expect(error.hint).toContain("raise archives.max_unpacked_mb");
  });

  it("a file of zeros is a file, not an empty archive", async () => {
    ctx.write("zeros.gz", zlib.gzipSync(Buffer.alloc(4_096)));
    expect(await decompress({ archive: "zeros.gz" })).toMatchObject({ format: "gz", bytes_out: 4_096 });
    expect(readFileSync(at("zeros"))).toHaveLength(4_096);
  });

  it("more entries than is sane", async () => {
    const header = tarOf([{ name: "a/" }]).subarray(0, 512);
    const many = Buffer.concat([...Array.from({ length: 50_002 }, () => header), tarEnd()]);
    expect((await refused("many.tar", many)).message).toContain("50000 entries");
  });

  it("what is damaged, cut off or protected with a password", async () => {
    const tar = zlib.gzipSync(tarOf([{ name: "a", data: "x".repeat(5000) }]));
    expect((await refused("cut.tar.gz", tar.subarray(0, tar.length - 20))).message).toContain("damaged");
    const zip = await zipOf([{ name: "a", data: "hello" }]);
    const flipped = Buffer.from(zip);
    const place = flipped.indexOf("PK\x01\x02", 0, "latin1");
    flipped.writeUInt32LE(0x12345678, place + 16);
    expect((await refused("sum.zip", flipped)).message).toContain("checksum");
    expect((await refused("no.zip", Buffer.from("not a zip"))).message).toContain("damaged");
    expect((await refused("x.rar", Buffer.from("Rar!\x1a\x07"))).message).toContain("not an archive");
  });

  it("a folder that is a link, or a file in the way of a folder, on the disk", async () => {
    mkdirSync(at("out"));
    mkdirSync(at("elsewhere"));
    symlinkSync(at("elsewhere"), at("out/sub"));
    expect((await refused("x.tar", tarOf([{ name: "sub/a", data: "x" }]))).message).toContain("in the way");
    expect(readdirSync(at("elsewhere"))).toEqual([]);
    ctx.write("out/file", "x");
    expect((await refused("y.tar", tarOf([{ name: "file/a", data: "x" }]))).code).toBe("denied");
  });

  it("protected places below the folder", async () => {
    const tar = tarOf([{ name: "a.txt" }, { name: ".ssh/authorized_keys", data: "key" }]);
    expect(await refused("x.tar", tar, { output: "home" })).toMatchObject({ code: "denied" });
  });

  it("files that are there already, unless replacing them is meant", async () => {
    ctx.write("out/a.txt", "old");
    const tar = tarOf([
      { name: "new.txt", data: "new" },
      { name: "a.txt", data: "replaced" },
    ]);
    expect((await refused("x.tar", tar)).hint).toContain("overwrite");
    expect(await decompress({ archive: "x.tar", output: "out", overwrite: true })).toMatchObject({
      replaced: 1,
    });
    expect(ctx.read("out/a.txt")).toBe("replaced");
  });
});

describe("a failure in the middle", () => {
  it("takes everything back, also what was replaced", async () => {
    ctx.write("out/a.txt", "old");
    ctx.write(
      "x.tar",
      tarOf(["new/deep/1", "a.txt", "b", "c", "d", "z"].map((name) => ({ name, data: name }))),
    );
    const { files } = ctx.environment;
    const failing = {
      ...files,
      write: async (path: string, ...rest: [Uint8Array, object?]) => {
        if (path.endsWith("/z") && rest[0].length > 0) throw new Error("disk full");
        return files.write(path, ...rest);
      },
    };
    const there = { ...ctx, environment: { ...ctx.environment, files: failing } };
    await expect(
      call(tool, { action: "decompress", archive: "x.tar", output: "out", overwrite: true }, there),
    ).rejects.toThrow("disk full");
    expect(readdirSync(at("out"))).toEqual(["a.txt"]);
    expect(ctx.read("out/a.txt")).toBe("old");
  });
});

it("listing shows also what would not be unpacked, and why", async () => {
  ctx.write(
    "x.tar",
    tarOf([{ name: "a.txt", data: "abc" }, { name: "../b" }, { name: "l", letter: "2", target: "/etc" }]),
  );
  const out = await run({ action: "list", archive: "x.tar" });
  expect(out).toMatchObject({ entries: 3, unsafe: 2, format: "tar" });
  expect(out.members).toMatchObject([
    { name: "a.txt", size: 3, mode: "644" },
    { name: "../b", unsafe: "it leads out of the folder" },
    { name: "l", type: "link", target: "/etc", unsafe: "a link" },
  ]);
  expect(plainText(tool.present?.(out as never)?.human ?? "")).toContain("will not be unpacked: a link");
});

it("effects name what is read and what is written, and the whole path keeps to them", async () => {
  const scope = { cwd: "/w", environment: "local" };
  const effects = (args: Fields) =>
    (tool.effects?.(withDefaults(tool, args) as never, scope) ?? []).map(
      ({ mode, resource }) => `${mode} ${resource}`,
    );
  expect(effects({ action: "compress", paths: ["a", "/b"], archive: "x.zip" })).toEqual([
    "read /w/a",
    "read /b",
    "write /w/x.zip",
  ]);
  expect(effects({ action: "decompress", archive: "d/x.tar.gz" })).toEqual([
    "read /w/d/x.tar.gz",
    "write /w/d/x",
  ]);
  expect(effects({ action: "list", archive: "x.zip" })).toEqual(["read /w/x.zip"]);

  const { runtime, cwd } = await testRuntime([], { builtins: true });
  execFileSync("sh", ["-c", "mkdir -p src/e && echo hi > src/a.txt"], { cwd });
  const session = await runtime.openSession();
  const packed = await session.call({
    name: "file_compress",
    arguments: { action: "compress", paths: ["src"], archive: "src.tar.gz" },
  });
  expect(packed.structured).toMatchObject({ entries: 3 });
  expect(
    zlib
      .gunzipSync(readFileSync(join(cwd, "src.tar.gz")))
      .subarray(0, 4)
      .toString(),
  ).toBe("src/");
  const unpacked = await session.call({
    name: "file_compress",
    arguments: { action: "decompress", archive: "src.tar.gz", output: "copy" },
  });
  expect(unpacked.structured).toMatchObject({ entries: 2 });
  expect(readFileSync(join(cwd, "copy/src/a.txt"), "utf8")).toBe("hi\n");
  expect(readdirSync(join(cwd, "copy/src/e"))).toEqual([]);
});
