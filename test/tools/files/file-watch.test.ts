import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainText } from "../../../src/tool/marked-text.js";
import tool from "../../../src/tools/files/file-watch.js";
import { Watches } from "../../../src/tools/files/watch/watches.js";
import { testRuntime } from "../../support/runtime.js";
import { call, type Fields, type FileTestContext, failureOf, makeFileContext } from "./support.js";

let ctx: FileTestContext;
beforeEach(() => {
  ctx = makeFileContext();
  mkdirSync(join(ctx.folder, "w"));
});
afterEach(() => ctx.cleanUp());

const run = (args: Fields) => call(tool, args, ctx);
const at = (path: string) => join(ctx.folder, path);
const seen = (out: Fields) =>
  (out.events as { path: string; change: string }[])
    .map(({ path, change }) => `${change} ${path.slice(ctx.folder.length + 1)}`)
    .sort();

/** A watch in the background sees everything from the moment it has answered, so that no test has to guess. */
async function watching(args: Fields = {}): Promise<(more?: Fields) => Promise<Fields>> {
  const { watch_id } = await run({ path: "w", background: true, ...args });
  return (more = {}) => run({ action: "poll", watch_id, duration: 10, ...more });
}

describe("in the background", () => {
  it("tells what was created, changed and removed since the last question, each path once", async () => {
    ctx.write("w/old.txt", "1");
    ctx.write("w/gone.txt", "1");
    const poll = await watching();
    for (let round = 0; round < 20; round++) appendFileSync(at("w/old.txt"), "more");
    ctx.write("w/new/deep.txt", "1");
    rmSync(at("w/gone.txt"));
    expect(seen(await poll({ max_events: 4 }))).toEqual([
      "changed w/old.txt",
      "created w/new",
      "created w/new/deep.txt",
      "removed w/gone.txt",
    ]);
    expect(await poll({ duration: 0 })).toMatchObject({ events: [], timed_out: true });
    ctx.write("w/new/deep.txt", "22");
    expect(seen(await poll())).toEqual(["changed w/new/deep.txt"]);
  });

  it("a file saved by renaming another over it is one change", async () => {
    const file = ctx.write("w/doc.txt", "1");
    const poll = await watching();
    writeFileSync(at("w/doc.txt.tmp"), "2");
    renameSync(at("w/doc.txt.tmp"), file);
    expect(seen(await poll())).toEqual(["changed w/doc.txt"]);
    // As editors with backups do: move the old one away, write the new one, drop the old one.
    renameSync(file, at("w/doc.txt~"));
    await delay(40);
    writeFileSync(file, "3");
    await delay(40);
    rmSync(at("w/doc.txt~"));
    expect(seen(await poll())).toEqual(["changed w/doc.txt"]);
  });

  it("only what fits the patterns and kinds; .git is no change of the project", async () => {
    mkdirSync(at("w/.git"));
    const poll = await watching({ patterns: ["*.ts", "docs/**"], events: ["created"] });
    ctx.write("w/.git/index.ts", "1");
    ctx.write("w/a.js", "1");
    ctx.write("w/src/b.ts", "1");
    ctx.write("w/docs/x/y.md", "1");
    expect(seen(await poll({ max_events: 4 }))).toEqual([
      "created w/docs",
      "created w/docs/x",
      "created w/docs/x/y.md",
      "created w/src/b.ts",
    ]);
    rmSync(at("w/src/b.ts"));
    expect(await poll({ duration: 0.3 })).toMatchObject({ timed_out: true });
  });

  it("is listed, stopped with its last news, and then unknown", async () => {
    const { watch_id } = await run({ path: "w", background: true });
    expect(await run({ action: "list" })).toMatchObject({ watches: [{ watch_id, path: at("w"), told: 0 }] });
    const id = String(watch_id);
    expect(await run({ action: "stop", watch_id: id.slice(0, 10) })).toMatchObject({
      status: "stopped",
      watch_id,
      events: [],
    });
    expect(await run({ action: "list" })).toMatchObject({ watches: [] });
    expect(await failureOf(run({ action: "poll", watch_id: id }))).toMatchObject({ code: "not_found" });
  });

  it("ends with the session", async () => {
    await run({ path: "w", background: true });
    const watches = ctx.keep(Watches);
    const [watch] = watches.list();
    watches.close();
    expect(watches.list()).toEqual([]);
    await expect.poll(() => watch?.ended).toBe(true);
  });

  it("goes on between the calls of a session, which may write what is watched", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession();
    const started = await session.call({ name: "file_watch", arguments: { path: ".", background: true } });
    const { watch_id } = started.structured as { watch_id: string };
    await session.call({ name: "write_file", arguments: { path: "a.txt", content: "x" } });
    const told = await session.call({
      name: "file_watch",
      arguments: { action: "poll", watch_id, duration: 10 },
    });
    expect(told.structured).toMatchObject({ events: [{ path: join(cwd, "a.txt"), change: "created" }] });
  });
});

describe("waiting", () => {
  it("returns with the first change, of one file too", async () => {
    const file = ctx.write("w/one.txt", "1");
    const waiting = run({ path: "w/one.txt", duration: 20 });
    const timer = setInterval(() => appendFileSync(file, "x"), 300);
    const out = await waiting;
    clearInterval(timer);
    expect(seen(out)).toEqual(["changed w/one.txt"]);
    expect(out).not.toHaveProperty("watch_id");
    expect(plainText(tool.present?.(out as never)?.human ?? "")).toBe(`~ ${file}`);
  });

  it("gives up after its time without being a failure", async () => {
    expect(await run({ path: "w", duration: 0.1 })).toMatchObject({
      success: true,
      events: [],
      timed_out: true,
    });
  });

  it("is ended by a cancelled call", async () => {
    const controller = new AbortController();
    const waiting = call(tool, { path: "w", duration: 600 }, { ...ctx, signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(waiting).rejects.toThrow(/abort/i);
  });

  it("what is missing cannot be watched, and the hint says how it can", async () => {
    expect((await failureOf(run({ path: "w/later.txt" }))).hint).toContain("patterns");
    expect(await failureOf(run({}))).toMatchObject({ code: "invalid_arguments" });
  });
});
