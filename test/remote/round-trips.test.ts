import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/hash.js";
import { runCall } from "../../src/call/run-call.js";
import type { CallScope } from "../../src/call/scope.js";
import { isConflict } from "../../src/tools/files/write-verified.js";
import { testRuntime } from "../support/runtime.js";
import { installed, openPlace, until } from "./there.js";

/** A session whose files and commands are elsewhere, and how often something was asked there. */
async function elsewhere(flavour: Parameters<typeof openPlace>[0]) {
  const place = openPlace(flavour);
  await place.environment.connect();
  const { runtime } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession();
  const scope: CallScope = { ...session.scope, environment: place.environment, home: place.root };
  const call = async (name: string, args: unknown, signal?: AbortSignal) => {
    const before = place.transport.started.length;
    const result = await runCall({ id: "c", name, arguments: args }, scope, { signal });
    return { result, trips: place.transport.started.length - before };
  };
  return { ...place, call };
}

describe.each(installed)("file tools where there is $flavour", ({ flavour, missing }) => {
  it.skipIf(missing)("read in two round trips, write and patch in three", async () => {
    const { call, root } = await elsewhere(flavour);
    const path = join(root, "note.txt");
    writeFileSync(path, "one\ntwo\n");
    const read = await call("read_file", { path });
    expect(read.result).toMatchObject({ ok: true, structured: { content: expect.stringContaining("two") } });
    expect(read.trips).toBeLessThanOrEqual(2);
    const written = await call("write_file", { path, content: "one\ntwo\nthree\n" });
    expect(written.result).toMatchObject({ ok: true, structured: { created: false, verified: "inode" } });
    expect(written.trips).toBeLessThanOrEqual(3);
    const patched = await call("patch", { path, old_string: "two", new_string: "2" });
    expect(patched.result.ok, patched.result.human).toBe(true);
    expect(patched.trips).toBeLessThanOrEqual(3);
    expect(readFileSync(path, "utf8")).toBe("one\n2\nthree\n");
    const fresh = await call("write_file", { path: join(root, "a/b/new.txt"), content: "x" });
    expect(fresh.result).toMatchObject({ ok: true, structured: { created: true, dirs_created: true } });
    expect(fresh.trips).toBeLessThanOrEqual(3);
  });

  it.skipIf(missing)("lose no change when several processes write one file", async (test) => {
    const { root } = openPlace(flavour);
    test.skip(!existsSync(join(root, "bin", "flock")), "[ci-cannot] this busybox has nothing that locks");
    const path = join(root, "count");
    writeFileSync(path, "0");
    const count = async () => {
      // A connection of its own, as another process has one.
      const { files } = openPlace(flavour).environment;
      for (let done = 0; done < 4; ) {
        const bytes = await files.read(path);
        const next = Buffer.from(String(Number(Buffer.from(bytes).toString()) + 1));
        try {
          await files.write(path, next, { expected: { sha256: sha256(bytes) } });
          done += 1;
        } catch (error) {
          if (!isConflict(error)) throw error;
        }
      }
    };
    await Promise.all([count(), count(), count()]);
    expect(readFileSync(path, "utf8")).toBe("12");
  });

  it.skipIf(missing)("list a folder full of files and links in a few, whatever is in it", async () => {
    const { call, root } = await elsewhere(flavour);
    const folder = join(root, "full");
    mkdirSync(folder);
    for (let at = 0; at < 40; at += 1) {
      writeFileSync(join(folder, `file ${at}`), "x".repeat(at));
      symlinkSync(at % 2 === 0 ? `file ${at}` : "gone", join(folder, `link ${at}`));
    }
    writeFileSync(join(folder, "two\nlines"), "12345");
    const { result, trips } = await call("directory_list", { path: folder, git: false });
    const { entries } = result.structured as {
      entries: { path: string; size?: number; target?: string; mtime?: string }[];
    };
    const of = (path: string) => entries.find((entry) => entry.path === path);
    expect(entries).toHaveLength(81);
    expect(of("file 7")).toMatchObject({ size: 7, mtime: expect.any(String) });
    expect(of("link 8")?.target).toBe("file 8");
    expect(of("link 9")?.target).toContain("gone");
    expect(of("two\nlines")).toMatchObject({ size: 5 });
    expect(trips).toBeLessThanOrEqual(8);
  });
});

describe("files elsewhere that never answer", () => {
  it("are let go by a transfer that is told to stop", async () => {
    const { environment, transport, root } = openPlace("dash");
    await environment.connect();
    writeFileSync(join(root, "here"), "x");
    transport.start = () => new Promise(() => undefined);
    const transfer = { from: join(root, "here"), to: join(root, "there") };
    for (const move of [environment.fetch, environment.push]) {
      const controller = new AbortController();
      const moving = move({ ...transfer, signal: controller.signal }).catch((error: unknown) => error);
      setTimeout(() => controller.abort(), 20);
      expect(await moving).toMatchObject({ code: "cancelled" });
    }
  });

  it("are let go when the call is told to stop, in admission and in the handler", async () => {
    const { call, transport, root } = await elsewhere("dash");
    const path = join(root, "note.txt");
    writeFileSync(path, "one\n");
    const start = transport.start.bind(transport);
    for (const answered of [0, 1]) {
      let asked = 0;
      transport.start = async (request) => {
        asked += 1;
        if (asked <= answered) return start(request);
        return new Promise(() => undefined);
      };
      const controller = new AbortController();
      const running = call("read_file", { path }, controller.signal);
      await until(() => asked > answered);
      const begun = performance.now();
      controller.abort();
      expect((await running).result.error?.code).toBe("cancelled");
      expect(performance.now() - begun).toBeLessThan(4_000);
    }
  });
});
