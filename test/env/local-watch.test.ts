import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FileChange } from "../../src/env/environment.js";
import { writeAtomically } from "../../src/env/local/atomic-write.js";
import { watchLocal } from "../../src/env/local/watch.js";

let folder = "";
let end = new AbortController();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-watch-"));
  end = new AbortController();
});
afterEach(() => {
  end.abort();
  rmSync(folder, { recursive: true, force: true });
});

interface Following {
  readonly seen: FileChange[];
  readonly over: Promise<void>;
  /** Waits until the paths were told, with the last change of each. */
  until(wanted: Readonly<Record<string, FileChange["change"]>>): Promise<void>;
}

/** A watch needs a moment to begin; what happens before is not told. `wake` changes something until it is. */
async function following(
  path: string,
  options: { readonly recursive?: boolean; readonly wake?: (round: number) => void } = {},
): Promise<Following> {
  const seen: FileChange[] = [];
  let awake = false;
  const { recursive = false, wake = (round) => writeFileSync(join(path, `wake-${round}`), "x") } = options;
  const over = (async () => {
    for await (const change of watchLocal(path, { signal: end.signal, recursive })) {
      awake = true;
      if (!change.path.includes("wake-")) seen.push(change);
    }
  })();
  for (let round = 0; !awake && round < 200; round += 1) {
    wake(round);
    await delay(50);
  }
  await delay(100);
  seen.length = 0;
  return {
    seen,
    over,
    async until(wanted) {
      const last = () => new Map(seen.map(({ path: each, change }) => [each, change]));
      const fits = () => Object.entries(wanted).every(([each, change]) => last().get(each) === change);
      for (let round = 0; !fits() && round < 500; round += 1) await delay(20);
      expect(Object.fromEntries(last())).toMatchObject(wanted);
    },
  };
}

const at = (...names: readonly string[]) => join(folder, ...names);

describe("watching a folder", () => {
  it("tells what is created, changed, moved and removed, each once", async () => {
    writeFileSync(at("old"), "1");
    writeFileSync(at("moving"), "1");
    const watch = await following(folder);
    writeFileSync(at("new"), "x");
    await watch.until({ [at("new")]: "created" });
    writeFileSync(at("old"), "2");
    await watch.until({ [at("old")]: "changed" });
    renameSync(at("moving"), at("moved"));
    await watch.until({ [at("moving")]: "removed", [at("moved")]: "created" });
    rmSync(at("old"));
    await watch.until({ [at("old")]: "removed" });
    expect(watch.seen.length).toBeLessThan(9);
  });

  it("tells of an atomic write only the file itself", async () => {
    writeFileSync(at("file"), "1");
    const watch = await following(folder);
    await writeAtomically({ path: at("file"), data: Buffer.from("2") });
    await writeAtomically({ path: at("other"), data: Buffer.from("2") });
    await watch.until({ [at("file")]: "changed", [at("other")]: "created" });
    expect(watch.seen.every(({ path }) => path === at("file") || path === at("other"))).toBe(true);
  });

  it("looks below only when asked to, into folders made meanwhile, and never through links", async () => {
    const outside = mkdtempSync(join(tmpdir(), "hermes-outside-"));
    try {
      symlinkSync(outside, at("link"));
      mkdirSync(at("sub"));
      const [plain, all] = await Promise.all([following(folder), following(folder, { recursive: true })]);
      writeFileSync(join(outside, "secret"), "x");
      mkdirSync(at("sub/a/b"), { recursive: true });
      writeFileSync(at("sub/a/b/file"), "x");
      await all.until({ [at("sub/a")]: "created", [at("sub/a/b/file")]: "created" });
      writeFileSync(at("sub/a/b/file"), "y");
      await all.until({ [at("sub/a/b/file")]: "changed" });
      rmSync(at("sub/a"), { recursive: true });
      await all.until({ [at("sub/a")]: "removed", [at("sub/a/b/file")]: "removed" });
      writeFileSync(at("last"), "x");
      await plain.until({ [at("last")]: "created" });
      expect(plain.seen).toEqual([{ path: at("last"), change: "created" }]);
      expect(all.seen.some(({ path }) => path.includes("secret"))).toBe(false);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("of two thousand files in a burst loses none, also while nobody asks for the next", async () => {
    let awake = false;
    const changes = watchLocal(folder, { signal: end.signal, recursive: true });
    const first = changes.next().finally(() => {
      awake = true;
    });
    for (let round = 0; !awake; round += 1) {
      writeFileSync(at(`wake-${round}`), "x");
      await delay(50);
    }
    for (let group = 0; group < 40; group += 1) {
      mkdirSync(at(`g${group}`));
      for (let file = 0; file < 50; file += 1) writeFileSync(at(`g${group}`, `f${file}`), "x");
    }
    const created = new Set<string>();
    for (let step = await first; step.done !== true; step = await changes.next()) {
      if (!step.value.path.includes("wake-")) created.add(step.value.path);
      if (created.size === 2_040) break;
    }
    expect(created.size).toBe(2_040);
  }, 60_000);

  it("that is removed and made again goes on", async () => {
    mkdirSync(at("root"));
    writeFileSync(at("root/file"), "x");
    const watch = await following(at("root"));
    rmSync(at("root"), { recursive: true });
    await watch.until({ [at("root")]: "removed", [at("root/file")]: "removed" });
    mkdirSync(at("root"));
    writeFileSync(at("root/again"), "x");
    await watch.until({ [at("root/again")]: "created" });
  });

  it("ends at once with its signal, and refuses what is not there", async () => {
    const watch = await following(folder);
    end.abort();
    await expect(Promise.race([watch.over, delay(1_000, "late")])).resolves.toBeUndefined();
    const missing = watchLocal(at("missing"), { signal: new AbortController().signal });
    await expect(missing.next()).rejects.toThrow(/no such file/);
    await expect(watchLocal(folder, { signal: end.signal }).next()).resolves.toMatchObject({ done: true });
  });
});

describe("watching one file", () => {
  it("follows it through replacement and removal, through a link too, and tells of nothing else", async () => {
    writeFileSync(at("one"), "1");
    symlinkSync(folder, `${folder}-link`);
    try {
      const watch = await following(join(`${folder}-link`, "one"), {
        wake: (round) => writeFileSync(at("one"), `round ${round}`),
      });
      const path = join(`${folder}-link`, "one");
      writeFileSync(at("other"), "x");
      await writeAtomically({ path: at("one"), data: Buffer.from("2") });
      await watch.until({ [path]: "changed" });
      rmSync(at("one"));
      await watch.until({ [path]: "removed" });
      writeFileSync(at("one"), "3");
      await watch.until({ [path]: "created" });
      expect(new Set(watch.seen.map((each) => each.path))).toEqual(new Set([path]));
    } finally {
      rmSync(`${folder}-link`);
    }
  });
});
