import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { ToolError } from "../../src/tool/errors.js";
import { RACE_SECONDS, startSwapper } from "../support/swapper.js";
import { installed, openPlace, processesWith, until } from "./there.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const NOBODY = 65_534;

async function errorOf(work: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!ToolError.isInstance(error)) throw new Error(`no ToolError but ${String(error)}`);
  return error;
}

describe.each(installed)("files through the tools of $flavour", ({ flavour, missing }) => {
  test.skipIf(missing)("paths are resolved, also to where links lead", async () => {
    const { environment, root } = openPlace(flavour);
    const { files } = environment;
    expect(files.resolve("a/../b", "/x")).toBe("/x/b");
    expect(() => files.resolve("~", "/x")).toThrow(/not known/);
    await environment.connect();
    expect(files.resolve("~/notes", "/x")).toBe(join(root, "home/notes"));
    expect(files.resolve("~", "/x")).toBe(join(root, "home"));
    expect(() => files.resolve("a\0b", "/x")).toThrow(/NUL/);
    await expect(files.read("relative")).rejects.toThrow(/not absolute/);
    const at = (...parts: string[]) => join(root, ...parts);
    mkdirSync(at("real dir\n"));
    symlinkSync(at("real dir\n"), at("link"));
    symlinkSync("link/none", at("dangling"));
    symlinkSync("round", at("about"));
    symlinkSync("about", at("round"));
    writeFileSync(at("file"), "");
    expect(await files.realpath(at("link", "new", "file"))).toBe(at("real dir\n", "new", "file"));
    expect(await files.realpath(at("dangling", "deeper"))).toBe(at("real dir\n", "none", "deeper"));
    expect(await files.realpath(at("file", "below"))).toBe(at("file", "below"));
    expect(await files.realpath("/")).toBe("/");
    await expect(files.realpath(at("about"))).rejects.toThrow(/circle/);
  });

  test.skipIf(missing)("are described as the local ones are", async () => {
    const { environment, root } = openPlace(flavour);
    const local = createLocalEnvironment().files;
    const at = (...parts: string[]) => join(root, ...parts);
    writeFileSync(at("one"), "12345", { mode: 0o640 });
    utimesSync(at("one"), 1_700_000_000.25, 1_700_000_000.25);
    mkdirSync(at("folder"));
    symlinkSync("one", at("link"));
    symlinkSync("nowhere", at("dangling"));
    for (const name of ["one", "folder", "link", "dangling", "nothing", "one/below"]) {
      const [there, here] = [await environment.files.stat(at(name)), await local.stat(at(name))];
      expect(there).toEqual(
        here === undefined ? undefined : { ...here, mtimeMs: expect.closeTo(here.mtimeMs, 0) },
      );
    }
    const odd = [
      "-n",
      "new\nline",
      "quo'te\"s",
      " blank ",
      "*",
      "back\\slash",
      ".hidden",
      "漢字😀",
      "$(x)",
      "\u0081",
      "(",
    ];
    for (const name of odd) writeFileSync(at("folder", name), "");
    writeFileSync(Buffer.concat([Buffer.from(`${at("folder")}/`), Buffer.from([0x62, 0xff])]), "");
    mkdirSync(at("folder", "inner"));
    expect(await environment.files.list(at("folder"))).toEqual(await local.list(at("folder")));
    expect(await environment.files.list(at("folder", "inner"))).toEqual([]);
    for (const name of odd) expect((await environment.files.stat(at("folder", name)))?.type).toBe("file");
  });

  test.skipIf(missing)("are read whole, in ranges and as a stream", async () => {
    const { environment, root } = openPlace(flavour);
    const { files } = environment;
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    const path = join(root, "-data file");
    writeFileSync(path, content);
    expect(Buffer.from(await files.read(path)).equals(content)).toBe(true);
    for (const [start, end] of [
      [0, 10],
      [5, 5],
      [100_000, 170_001],
      [299_990, 400_000],
      [500_000, 500_010],
      [3, undefined],
    ] as const) {
      const part = await files.read(path, { start, ...(end !== undefined && { end }), real: start === 3 });
      expect(Buffer.from(part).equals(content.subarray(start, end))).toBe(true);
    }
    expect(Buffer.from(await files.read(path, { end: 4 }))).toEqual(content.subarray(0, 4));
    const chunks: Uint8Array[] = [];
    for await (const chunk of files.stream(path, { start: 10 })) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(content.subarray(10))).toBe(true);
  });

  test.skipIf(missing)("that cannot be read say why, as the local ones do", async () => {
    const { environment, root } = openPlace(flavour);
    const local = createLocalEnvironment().files;
    const { files } = environment;
    const at = (...parts: string[]) => join(root, ...parts);
    writeFileSync(at("file"), "");
    symlinkSync("nowhere", at("dangling"));
    mkdirSync(at("folder"));
    await environment.exec({
      command: `mkfifo ${at("pipe")}`,
      cwd: root,
      timeoutMs: 9_000,
      signal: new AbortController().signal,
    });
    for (const name of ["nothing", "no/thing", "file/below", "dangling", "folder", "pipe"]) {
      const [there, here] = [await errorOf(files.read(at(name))), await errorOf(local.read(at(name)))];
      expect([name, there.message, there.hint, there.details]).toEqual([
        name,
        here.message,
        here.hint,
        here.details,
      ]);
    }
    for (const name of ["nothing", "file", "file/below"]) {
      expect((await errorOf(files.list(at(name)))).message).toBe(
        (await errorOf(local.list(at(name)))).message,
      );
    }
    for (const name of ["nothing", "no/thing", "file/below", "folder/none"]) {
      expect((await errorOf(files.remove(at(name)))).message).toBe(
        (await errorOf(local.remove(at(name)))).message,
      );
    }
    await expect(
      (async () => {
        for await (const _ of files.stream(at("nothing")));
      })(),
    ).rejects.toThrow(/no such file/);
  });

  test.skipIf(missing)("are refused without permission", async () => {
    const { environment, root, transport } = openPlace(flavour);
    // Nothing is refused to root.
    if (process.getuid?.() === 0) {
      transport.user = NOBODY;
      chownSync(root, NOBODY, NOBODY);
    }
    const { files } = environment;
    const at = (...parts: string[]) => join(root, ...parts);
    mkdirSync(at("closed"));
    writeFileSync(at("closed/file"), "");
    chmodSync(at("closed"), 0);
    writeFileSync(at("secret"), "", { mode: 0 });
    writeFileSync(at("fixed"), "old", { mode: 0o444 });
    for (const work of [
      () => files.read(at("secret")),
      () => files.list(at("closed")),
      () => files.write(at("closed/new"), bytes("")),
      () => files.write(at("fixed"), bytes("new")),
    ]) {
      await expect(work()).rejects.toThrow(/permission denied/);
    }
    expect(readFileSync(at("fixed"), "utf8")).toBe("old");
    chmodSync(at("closed"), 0o700);
  });

  test.skipIf(missing)("are written whole, with folders made and modes kept", async () => {
    const { environment, root } = openPlace(flavour);
    const { files } = environment;
    const at = (...parts: string[]) => join(root, ...parts);
    const first = await files.write(at("a/-b/c d/new"), bytes("one"));
    expect(first).toMatchObject({ created: true, dirsCreated: true, stat: { type: "file", size: 3 } });
    expect(await files.write(at("a/-b/c d/new"), bytes("two"))).toMatchObject({
      created: false,
      dirsCreated: false,
    });
    chmodSync(at("a/-b/c d/new"), 0o751);
    await files.write(at("a/-b/c d/new"), bytes("three"));
    expect(statSync(at("a/-b/c d/new")).mode & 0o7777).toBe(0o751);
    expect(readFileSync(at("a/-b/c d/new"), "utf8")).toBe("three");
    expect(readdirSync(at("a/-b/c d"))).toEqual(["new"]);
    symlinkSync(at("a"), at("link"));
    symlinkSync("nowhere", at("dangling"));
    for (const name of ["link", "dangling"]) {
      expect(await errorOf(files.write(at(name), bytes("x")))).toMatchObject({
        code: "denied",
        details: { moved: true },
      });
    }
    await expect(files.write(at("a"), bytes("x"))).rejects.toThrow(/it is a folder/);
    await expect(files.write("/", bytes("x"))).rejects.toThrow(/it is a folder/);
    await expect(files.write(at("a/-b/c d/new/below"), bytes("x"))).rejects.toThrow(/a file, not a folder/);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), async (data) => {
        await files.write(at("any"), data);
        expect(readFileSync(at("any")).equals(data)).toBe(true);
      }),
      { numRuns: 5 },
    );
  });

  test.skipIf(missing)("are written only over what was expected", async () => {
    const { environment, root } = openPlace(flavour);
    const { files } = environment;
    const path = join(root, "file");
    const none = { expected: { sha256: undefined } };
    expect(await files.write(path, bytes("1"), none)).toMatchObject({ created: true });
    expect(await errorOf(files.write(path, bytes("2"), none))).toMatchObject({
      message: `Did not write ${path}: it exists already.`,
      details: { conflict: true, actual_sha256: sha256("1"), expected_sha256: null },
    });
    await files.write(path, bytes("2"), { expected: { sha256: sha256("1") } });
    expect(await errorOf(files.write(path, bytes("3"), { expected: { sha256: sha256("1") } }))).toMatchObject(
      {
        details: { conflict: true, actual_sha256: sha256("2"), expected_sha256: sha256("1") },
      },
    );
    await expect(
      files.write(join(root, "no/file"), bytes(""), { expected: { sha256: sha256("") } }),
    ).rejects.toThrow(/no longer exists/);
    expect(existsSync(join(root, "no"))).toBe(false);
    const racers = Array.from({ length: 6 }, (_, index) =>
      files.write(path, bytes(`racer ${index}`), { expected: { sha256: sha256("2") } }),
    );
    const settled = await Promise.allSettled(racers);
    expect(settled.filter(({ status }) => status === "fulfilled").length).toBe(1);
    expect(readdirSync(root).filter((name) => name.startsWith(".hermes"))).toEqual([]);
  });

  test.skipIf(missing)("are removed and moved themselves, not what links point to", async () => {
    const { environment, root } = openPlace(flavour);
    const { files } = environment;
    const at = (...parts: string[]) => join(root, ...parts);
    mkdirSync(at("full"));
    writeFileSync(at("full/file"), "x");
    symlinkSync("full", at("link"));
    await files.remove(at("link"));
    await expect(files.remove(at("full"))).rejects.toThrow(/not empty/);
    await files.rename(at("full/file"), at("new/deep/-name"));
    expect(readFileSync(at("new/deep/-name"), "utf8")).toBe("x");
    symlinkSync("gone", at("dangling"));
    await files.rename(at("dangling"), at("moved"));
    expect(lstatSync(at("moved")).isSymbolicLink()).toBe(true);
    writeFileSync(at("other"), "y");
    await files.rename(at("other"), at("new/deep/-name"));
    expect(readFileSync(at("new/deep/-name"), "utf8")).toBe("y");
    mkdirSync(at("target"));
    await expect(files.rename(at("new/deep/-name"), at("target"))).rejects.toThrow(/folder/);
    expect(readdirSync(at("target"))).toEqual([]);
    await files.rename(at("new"), at("renamed"));
    await files.remove(at("renamed/deep/-name"));
    await files.remove(at("renamed/deep"));
    await files.remove(at("full"));
    expect(readdirSync(at("renamed"))).toEqual([]);
    await expect(files.rename(at("nothing"), at("x"))).rejects.toThrow(/no such file/);
  });

  test.skipIf(missing)("are not reached through a folder that became a link", async () => {
    const { environment, root } = openPlace(flavour);
    const { files } = environment;
    const at = (...parts: string[]) => join(root, ...parts);
    mkdirSync(at("other/sub"), { recursive: true });
    writeFileSync(at("other/f"), "of-somebody-else");
    symlinkSync(at("other"), at("dir"));
    writeFileSync(at("loose"), "loose");
    for (const work of [
      () => files.write(at("dir/f"), bytes("evil")),
      () => files.write(at("dir/new"), bytes("evil")),
      () => files.write(at("dir/made/deep/f"), bytes("evil")),
      () => files.remove(at("dir/f")),
      () => files.rename(at("dir/f"), at("stolen")),
      () => files.rename(at("loose"), at("dir/loose")),
      () => files.read(at("dir/f"), { real: true }),
    ]) {
      expect((await errorOf(work())).details).toMatchObject({ moved: true });
    }
    expect(readdirSync(at("other")).sort()).toEqual(["f", "sub"]);
    expect(readFileSync(at("other/f"), "utf8")).toBe("of-somebody-else");
    expect(Buffer.from(await files.read(at("dir/f"))).toString()).toBe("of-somebody-else");
  });

  test.skipIf(missing)("are watched", async () => {
    const { environment, root } = openPlace(flavour);
    const at = (...parts: string[]) => join(root, "watched", ...parts);
    mkdirSync(at("deep"), { recursive: true });
    for (const name of ["stays", "goes", "deep/in\nner"]) writeFileSync(at(name), "1");
    const stop = new AbortController();
    const seen: string[] = [];
    let looking = "";
    const watching = (async () => {
      for await (const { path, change } of environment.files.watch(at(), {
        signal: stop.signal,
        recursive: true,
      })) {
        seen.push(`${change} ${path.slice(at().length)}`);
        looking = "seen";
      }
    })();
    await until(() => {
      writeFileSync(at("ping"), String(Math.random()));
      return looking !== "";
    }, 20_000);
    writeFileSync(at("goes.new"), "");
    writeFileSync(at("deep/in\nner"), "other");
    const { rmSync } = await import("node:fs");
    rmSync(at("goes"));
    await until(
      () =>
        seen.includes("removed /goes") &&
        seen.includes("created /goes.new") &&
        seen.includes("changed /deep/in\nner"),
      20_000,
    );
    stop.abort();
    await watching;
    expect(seen.some((line) => line.includes("stays"))).toBe(false);
    await until(() => processesWith(join(root, "bin")).length === 0);
  });
});

describe("while somebody exchanges a folder and a link for ever", () => {
  test.skipIf(installed[0]?.missing)("nothing outside is read or changed", { timeout: 60_000 }, async () => {
    const { environment, root } = openPlace("bash");
    const { files } = environment;
    const at = (...parts: string[]) => join(root, ...parts);
    mkdirSync(at("dir"));
    mkdirSync(at("other"));
    writeFileSync(at("dir/f"), "own");
    writeFileSync(at("other/f"), "of-somebody-else");
    symlinkSync(at("other"), at("link"));
    await environment.connect();
    await startSwapper(at("dir"), at("link"));
    const deadline = Date.now() + RACE_SECONDS * 1_000;
    const read = new Set<string>();
    let refused = 0;
    const work = async (act: () => Promise<unknown>) => {
      while (Date.now() < deadline)
        await act().catch(() => {
          refused += 1;
        });
    };
    await Promise.all([
      work(() => files.write(at("dir/f"), bytes("own"))),
      work(() => files.write(at("dir/new/deep"), bytes("own"))),
      work(async () => read.add(Buffer.from(await files.read(at("dir/f"), { real: true })).toString())),
      work(async () => {
        await files.rename(at("dir/f"), at("dir/g"));
        await files.remove(at("dir/g"));
      }),
    ]);
    expect(refused).toBeGreaterThan(0);
    expect(read.has("of-somebody-else")).toBe(false);
    expect(readdirSync(at("other"))).toEqual(["f"]);
    expect(readFileSync(at("other/f"), "utf8")).toBe("of-somebody-else");
  });
});

test("a write whose data does not arrive whole changes nothing", async () => {
  const { environment, root, transport } = openPlace("dash");
  await environment.connect();
  const path = join(root, "file");
  writeFileSync(path, "old");
  const { start } = transport;
  transport.start = (request) =>
    start.call(
      transport,
      request.stdin instanceof Uint8Array ? { ...request, stdin: request.stdin.subarray(0, 3) } : request,
    );
  await expect(environment.files.write(path, bytes("longer than three"))).rejects.toThrow();
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(root).sort()).toEqual(["bin", "file", "home"]);
});

test("a large file is streamed no faster than it is taken", async () => {
  const { environment, root } = openPlace("dash");
  const path = join(root, "large");
  writeFileSync(path, Buffer.alloc(40_000_000));
  let taken = 0;
  for await (const chunk of environment.files.stream(path)) {
    taken += chunk.byteLength;
    if (taken < 2_000_000) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(taken).toBe(40_000_000);
  for await (const chunk of environment.files.stream(path)) {
    expect(chunk.byteLength).toBeGreaterThan(0);
    break;
  }
  await until(() => processesWith(join(root, "bin")).length === 0);
});
