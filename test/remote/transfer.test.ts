import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { packFolder, UnpackHere } from "../../src/env/remote/tar-folder.js";
import { TarReader } from "../../src/env/remote/tar-reader.js";
import { tarEnd, tarHeader, tarPadding } from "../../src/env/remote/tar-writer.js";
import { tempDir } from "../support/runtime.js";
import { installed, openPlace } from "./there.js";

const BUSYBOX = spawnSync("busybox", ["true"]).status === 0;

/** Everything below a folder: path, kind, and content or target. */
function tree(folder: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { encoding: "latin1" }).sort()) {
    const place = Buffer.from(`${folder}/${name}`, "latin1");
    const stats = lstatSync(place);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) found[prefix + name] = `link ${readlinkSync(place)}`;
    else if (stats.isDirectory()) {
      found[prefix + name] = `folder ${mode}`;
      Object.assign(found, tree(place.toString("latin1"), `${prefix}${name}/`));
    } else found[prefix + name] = `file ${mode} ${readFileSync(place, "latin1")}`;
  }
  return found;
}

function makeTree(folder: string): void {
  const at = (...parts: string[]) => join(folder, ...parts);
  mkdirSync(at("sub/-deep dir\n"), { recursive: true });
  mkdirSync(at("empty"));
  writeFileSync(at("plain"), "text");
  writeFileSync(at("sub/-deep dir\n", "quo'te"), Buffer.from([0, 255, 10, 13, 0]));
  writeFileSync(at("script"), "#!/bin/sh\n");
  chmodSync(at("script"), 0o750);
  const long = "n".repeat(120);
  mkdirSync(at(long, long), { recursive: true });
  writeFileSync(at(long, long, "in"), "deep");
  writeFileSync(at("big"), Buffer.alloc(700_001, "ab"));
  symlinkSync("plain", at("link"));
  symlinkSync("../plain", at("sub/up"));
  utimesSync(at("plain"), 1_600_000_000, 1_600_000_000);
}

describe.each(installed)("copies to and from $flavour", ({ flavour, missing }) => {
  test.skipIf(missing)("bring whole folders and single files, both ways", async () => {
    const { environment, root } = openPlace(flavour);
    const here = tempDir();
    makeTree(join(here, "source"));
    const counted = await environment.push({ from: join(here, "source"), to: join(root, "new/place") });
    expect(counted).toEqual({ files: 5, bytes: 4 + 5 + 10 + 4 + 700_001 });
    expect(tree(join(root, "new/place"))).toEqual(tree(join(here, "source")));
    expect(statSync(join(root, "new/place/plain")).mtimeMs).toBe(1_600_000_000_000);
    writeFileSync(join(root, "new/place/extra"), "");
    linkSync(join(root, "new/place/plain"), join(root, "new/place/second name"));
    expect(
      await environment.fetch({ from: join(root, "new/place"), to: join(here, "back/again") }),
    ).toMatchObject({ files: 7 });
    expect(tree(join(here, "back/again"))).toEqual(tree(join(root, "new/place")));

    expect(
      await environment.push({ from: join(here, "source/script"), to: join(root, "tools/run me") }),
    ).toEqual({ files: 1, bytes: 10 });
    expect(statSync(join(root, "tools/run me")).mode & 0o777).toBe(0o750);
    await environment.fetch({ from: join(root, "tools/run me"), to: join(here, "fetched") });
    expect(readFileSync(join(here, "fetched"), "utf8")).toBe("#!/bin/sh\n");
    expect(statSync(join(here, "fetched")).mode & 0o777).toBe(0o750);
    expect(readdirSync(here).filter((name) => name.startsWith(".hermes"))).toEqual([]);
  });

  test.skipIf(missing)("are poured into a folder that is there, and not through links in it", async () => {
    const { environment, root } = openPlace(flavour);
    const here = tempDir();
    mkdirSync(join(here, "source/sub/in"), { recursive: true });
    writeFileSync(join(here, "source/sub/in/file"), "new");
    writeFileSync(join(here, "source/.top"), "new");
    mkdirSync(join(root, "target/sub"), { recursive: true });
    writeFileSync(join(root, "target/sub/kept"), "kept");
    writeFileSync(join(root, "target/.top"), "old");
    await environment.push({ from: join(here, "source"), to: join(root, "target") });
    expect(Object.keys(tree(join(root, "target")))).toEqual([
      ".top",
      "sub",
      "sub/in",
      "sub/in/file",
      "sub/kept",
    ]);
    expect(readFileSync(join(root, "target/.top"), "utf8")).toBe("new");

    mkdirSync(join(root, "elsewhere"));
    rmSync(join(root, "target/sub"), { recursive: true });
    symlinkSync(join(root, "elsewhere"), join(root, "target/sub"));
    await expect(environment.push({ from: join(here, "source"), to: join(root, "target") })).rejects.toThrow(
      /leads elsewhere/,
    );
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
    expect(readdirSync(join(root, "target")).sort()).toEqual([".top", "sub"]);
    writeFileSync(join(root, "secret"), "s");
    rmSync(join(root, "target/.top"));
    symlinkSync(join(root, "secret"), join(root, "target/.top"));
    rmSync(join(root, "target/sub"));
    await environment.push({ from: join(here, "source"), to: join(root, "target") });
    expect(readFileSync(join(root, "secret"), "utf8")).toBe("s");

    mkdirSync(join(here, "filled"));
    writeFileSync(join(here, "filled/kept"), "");
    await environment.fetch({ from: join(root, "target"), to: join(here, "filled") });
    expect(readdirSync(join(here, "filled")).sort()).toEqual([".top", "kept", "sub"]);
  });

  test.skipIf(missing)("work without tar there", async () => {
    const { environment, root } = openPlace(flavour);
    rmSync(join(root, "bin/tar"));
    const here = tempDir();
    mkdirSync(join(here, "source/sub"), { recursive: true });
    writeFileSync(join(here, "source/sub/one"), "1");
    writeFileSync(join(here, "source/two"), "22");
    expect(await environment.push({ from: join(here, "source"), to: join(root, "copy") })).toEqual({
      files: 2,
      bytes: 3,
    });
    expect(await environment.fetch({ from: join(root, "copy"), to: join(here, "back") })).toEqual({
      files: 2,
      bytes: 3,
    });
    expect(tree(join(here, "back"))).toMatchObject({ "sub/one": "file 644 1", two: "file 644 22" });
  });

  test.skipIf(missing)("say what is wrong", async () => {
    const { environment, root } = openPlace(flavour);
    const here = tempDir();
    await expect(environment.fetch({ from: join(root, "none"), to: join(here, "x") })).rejects.toThrow(
      /no such file/,
    );
    await expect(environment.push({ from: join(here, "none"), to: join(root, "x") })).rejects.toThrow(
      /no such file/,
    );
    writeFileSync(join(root, "file"), "");
    mkdirSync(join(here, "folder"));
    await expect(environment.push({ from: join(here, "folder"), to: join(root, "file") })).rejects.toThrow(
      /a file, not a folder/,
    );
    await expect(environment.fetch({ from: join(root, "file"), to: join(here, "folder") })).rejects.toThrow(
      /folder is there/,
    );
    writeFileSync(join(here, "folder/f"), "x");
    await expect(
      environment.push({ from: join(here, "folder"), to: join(root, "never"), signal: AbortSignal.abort() }),
    ).rejects.toThrow(/cancelled/);
    await expect(
      environment.fetch({ from: join(root, "file"), to: join(here, "never"), signal: AbortSignal.abort() }),
    ).rejects.toThrow(/cancelled/);
    expect(existsSync(join(here, "never"))).toBe(false);
  });
});

describe("archives", () => {
  const name = fc
    .stringMatching(/^[^/\0]{1,60}$/)
    .filter((text) => text !== "." && text !== "..")
    .map((text) => text.toWellFormed());

  test.skipIf(!BUSYBOX)(
    "are read by tar and busybox as they were meant, and the other way round",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(
            fc.tuple(fc.array(name, { minLength: 1, maxLength: 4 }), fc.uint8Array({ maxLength: 1_500 })),
            {
              maxLength: 5,
              selector: ([parts]) => parts[0],
            },
          ),
          fc.nat(2_000),
          async (members, cut) => {
            const root = tempDir();
            mkdirSync(join(root, "source"));
            for (const [parts, content] of members) {
              mkdirSync(join(root, "source", ...parts.slice(0, -1)), { recursive: true });
              writeFileSync(join(root, "source", ...parts), content);
            }
            const pieces: Uint8Array[] = [];
            for await (const piece of packFolder(join(root, "source"), { files: 0, bytes: 0 }))
              pieces.push(piece);
            const wanted = tree(join(root, "source"));
            for (const program of [["tar"], ["busybox", "tar"]]) {
              const [command = "", ...options] = program;
              const target = join(root, command);
              mkdirSync(target);
              execFileSync(command, [...options, "-xf", "-", "-C", target], { input: Buffer.concat(pieces) });
              expect(tree(target)).toEqual(wanted);
              const archive = execFileSync(command, [...options, "-cf", "-", "-C", target, "."], {
                maxBuffer: 1e8,
              });
              mkdirSync(`${target}.back`);
              await unpack(archive, { target: `${target}.back`, chunk: cut + 1 });
              expect(tree(`${target}.back`)).toEqual(wanted);
            }
          },
        ),
        { numRuns: 6 },
      );
    },
  );

  test("of BSD style with their own kind of long names are read", async () => {
    const root = tempDir();
    const long = "y".repeat(200);
    mkdirSync(join(root, "source", long), { recursive: true });
    writeFileSync(join(root, "source", long, "é".repeat(60)), "x");
    for (const format of ["pax", "ustar", "gnu", "v7"]) {
      mkdirSync(join(root, format));
      const made = spawnSync("tar", ["--format", format, "-cf", "-", "-C", join(root, "source"), "."]);
      if (format === "v7" || format === "ustar") continue;
      await unpack(made.stdout, { target: join(root, format), chunk: 700 });
      expect(tree(join(root, format))).toEqual(tree(join(root, "source")));
    }
  });

  test.each([["../outside"], ["sub/../../outside"], ["/absolute"]])(
    "that name %s are refused and put nothing there",
    async (member) => {
      const root = tempDir();
      mkdirSync(join(root, "target"));
      const archive = Buffer.concat([entry({ name: member, content: "evil" }), tarEnd()]);
      await expect(unpack(archive, { target: join(root, "target"), chunk: 100 })).rejects.toThrow(/outside/);
      expect(readdirSync(root)).toEqual(["target"]);
      expect(readdirSync(join(root, "target"))).toEqual([]);
    },
  );

  test("cannot write through links of their own, and lose links that lead out", async () => {
    const root = tempDir();
    mkdirSync(join(root, "target"));
    mkdirSync(join(root, "outside"));
    const link = (name: string, target: string) =>
      tarHeader({
        name: Buffer.from(name),
        type: "symlink",
        size: 0,
        mode: 0o777,
        mtimeMs: 0,
        target: Buffer.from(target),
      });
    const archive = Buffer.concat([
      link("out", "../outside"),
      link("far", join(root, "outside")),
      link("near", "sub"),
      entry({ name: "out/file", content: "evil" }),
      entry({ name: "sub/file", content: "good" }),
      tarEnd(),
    ]);
    await unpack(archive, { target: join(root, "target"), chunk: 300 });
    expect(readdirSync(join(root, "outside"))).toEqual([]);
    expect(tree(join(root, "target"))).toEqual({
      near: "link sub",
      out: "folder 700",
      "out/file": "file 644 evil",
      sub: "folder 700",
      "sub/file": "file 644 good",
    });
  });

  test("that are damaged or cut short are noticed", async () => {
    const root = tempDir();
    const archive = Buffer.concat([entry({ name: "a", content: "x".repeat(900) }), tarEnd()]);
    const damaged = Buffer.from(archive);
    damaged[3] = 0x41;
    await expect(unpack(damaged, { target: root, chunk: 512 })).rejects.toThrow(/damaged/);
    const reader = new TarReader(new UnpackHere(tempDir()));
    await reader.push(archive.subarray(0, 1024));
    expect(reader.complete).toBe(false);
  });
});

function entry(member: { name: string; content: string }): Buffer {
  const content = Buffer.from(member.content);
  const header = tarHeader({
    name: Buffer.from(member.name),
    type: "file",
    size: content.length,
    mode: 0o644,
    mtimeMs: 0,
  });
  return Buffer.concat([header, content, tarPadding(content.length)]);
}

async function unpack(archive: Buffer, options: { target: string; chunk: number }): Promise<void> {
  const listener = new UnpackHere(options.target);
  const reader = new TarReader(listener);
  try {
    for (let at = 0; at < archive.length; at += options.chunk)
      await reader.push(archive.subarray(at, at + options.chunk));
    if (!reader.complete) throw new Error("not complete");
    await listener.finish();
  } finally {
    await listener.close();
  }
}
