import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import { examine } from "../../src/runtime/doctor.js";
import type { Session } from "../../src/runtime/session.js";
import { listChanges, undoChanges } from "../../src/runtime/undo.js";
import { hermes } from "../cli/hermes.js";
import { tempDir, testRuntime } from "../support/runtime.js";

async function bench(options: Parameters<typeof testRuntime>[1] = {}) {
  const made = await testRuntime([], { builtins: true, journal: true, ...options });
  const session = await made.runtime.openSession();
  const call = async (name: string, given: Record<string, unknown>) => {
    const result = await session.call({ name, arguments: given });
    expect(result.error).toBeUndefined();
  };
  const at = (name: string) => join(made.cwd, name);
  const undo = async (query: Parameters<typeof listChanges>[1], dryRun = false) =>
    undoChanges(made.runtime, { rows: await listChanges(made.runtime, query), dryRun });
  return { ...made, session, call, at, undo };
}

describe("undo", () => {
  it("puts the old content and mode back, removes what was created, makes again what was removed", async () => {
    const { at, call, undo } = await bench();
    writeFileSync(at("changed.sh"), "old\n");
    chmodSync(at("changed.sh"), 0o750);
    writeFileSync(at("gone.txt"), "gone\n");
    writeFileSync(at("moved.txt"), "moved\n");
    await call("write_file", { path: "changed.sh", content: "new\n" });
    await call("write_file", { path: "sub/created.txt", content: "created\n" });
    await call("patch", {
      mode: "patch",
      patch:
        "*** Begin Patch\n*** Delete File: gone.txt\n*** Move File: moved.txt -> elsewhere.txt\n*** End Patch",
    });
    expect([existsSync(at("gone.txt")), existsSync(at("moved.txt"))]).toEqual([false, false]);
    const done = await undo({});
    expect(done.map(({ outcome }) => outcome)).toEqual(done.map(() => "restored"));
    expect(readFileSync(at("changed.sh"), "utf8")).toBe("old\n");
    expect(statSync(at("changed.sh")).mode & 0o777).toBe(0o750);
    expect(readFileSync(at("gone.txt"), "utf8")).toBe("gone\n");
    expect(readFileSync(at("moved.txt"), "utf8")).toBe("moved\n");
    expect([existsSync(at("sub/created.txt")), existsSync(at("elsewhere.txt"))]).toEqual([false, false]);
    expect(await undo({})).toEqual([]);
  });

  it("leaves a file alone that was changed, removed or made again since", async () => {
    const { at, call, undo } = await bench();
    for (const name of ["a", "b"]) writeFileSync(at(name), "old\n");
    await call("write_file", { path: "a", content: "by the call\n" });
    await call("write_file", { path: "b", content: "by the call\n" });
    await call("write_file", { path: "c", content: "by the call\n" });
    writeFileSync(at("a"), "by a person\n");
    rmSync(at("b"));
    writeFileSync(at("c"), "by a person\n");
    const done = await undo({});
    expect(done.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["left", "it was changed again since"],
      ["left", "it was removed since"],
      ["left", "it was changed again since"],
    ]);
    expect(readFileSync(at("a"), "utf8")).toBe("by a person\n");
    expect(existsSync(at("b"))).toBe(false);
    expect(readFileSync(at("c"), "utf8")).toBe("by a person\n");
  });

  it("takes several changes of one file back one after the other, and a dry run changes nothing", async () => {
    const { at, call, undo } = await bench();
    writeFileSync(at("f"), "0");
    for (const content of ["1", "2", "3"]) await call("write_file", { path: "f", content });
    const imagined = await undo({}, true);
    expect(imagined.map(({ outcome }) => outcome)).toEqual([
      "would-restore",
      "would-restore",
      "would-restore",
    ]);
    expect(readFileSync(at("f"), "utf8")).toBe("3");
    await undo({});
    expect(readFileSync(at("f"), "utf8")).toBe("0");
  });

  it("keeps what a file held apart from its other names", async () => {
    const { at, call, undo } = await bench();
    writeFileSync(at("one"), "shared\n");
    linkSync(at("one"), at("two"));
    await call("write_file", { path: "one", content: "new\n" });
    writeFileSync(at("two"), "written in place\n");
    const done = await undo({});
    expect(done.map(({ outcome }) => outcome)).toEqual(["restored"]);
    expect(readFileSync(at("one"), "utf8")).toBe("shared\n");
  });

  it("says so before a file is overwritten that is too large to keep, and after", async () => {
    const home = tempDir();
    writeFileSync(join(home, "config.yaml"), "undo:\n  max_file_mb: 1\n");
    const made = await bench({ home });
    const { at, undo, session } = made;
    const big = "x".repeat(1024 * 1024 + 1);
    writeFileSync(at("big"), big);
    const first = await session.call({
      name: "write_file",
      arguments: { path: "big", content: "small" },
    });
    expect(first.error).toMatchObject({
      code: "blocked",
      message: expect.stringContaining("more than undo keeps"),
    });
    expect(readFileSync(at("big"), "utf8")).toBe(big);
    // Whoever calls again may do so from another session and process, as each `hermes call` does.
    const again = await testRuntime([], { builtins: true, journal: true, home, cwd: made.cwd });
    const other = await again.runtime.openSession();
    const second = await other.call({ name: "write_file", arguments: { path: "big", content: "small" } });
    expect(second.error).toBeUndefined();
    const [only] = await undo({});
    expect(only).toMatchObject({ outcome: "left", reason: expect.stringContaining("not kept") });
    expect(readFileSync(at("big"), "utf8")).toBe("small");
  });

  it("keeps within its room while it runs: the oldest is given up first", async () => {
    const home = tempDir();
    writeFileSync(join(home, "config.yaml"), "undo:\n  max_total_mb: 1\n");
    const { at, call, runtime } = await bench({ home });
    const large = "x".repeat(400_000);
    for (const name of ["a", "b", "c", "d"]) {
      writeFileSync(at(name), large);
      await call("write_file", { path: name, content: "small" });
    }
    expect((await listChanges(runtime, {})).map(({ path }) => path)).toEqual([at("d"), at("c")]);
    expect(readdirSync(join(home, "undo"))).toHaveLength(2);
    const told = (await examine(runtime)).filter(({ group }) => group === "Storage").map(({ what }) => what);
    expect(told).toEqual([
      expect.stringContaining("0 B of 1000 MB (tool_budget.spill_mb)"),
      expect.stringContaining("0 waiting): 0 B of 100 MB (approvals.max_mb)"),
      expect.stringContaining("781.3 KB of 1 MB (undo.max_total_mb)"),
    ]);
  });

  it("does not keep anything when it is switched off, and a failed write leaves no record", async () => {
    const home = tempDir();
    writeFileSync(join(home, "config.yaml"), "undo:\n  enabled: false\n");
    const off = await bench({ home });
    await off.call("write_file", { path: "f", content: "x" });
    expect(existsSync(join(home, "undo"))).toBe(false);
    const on = await bench();
    mkdirSync(on.at("folder"));
    const failed = await on.session.call({
      name: "patch",
      arguments: { mode: "replace", path: "missing", old_string: "a", new_string: "b" },
    });
    expect(failed.ok).toBe(false);
    expect(await listChanges(on.runtime, {})).toEqual([]);
  });

  it("takes everything back that a call made through other tools", async () => {
    const both = defineTool({
      name: "write_both",
      description: "Write two files through write_file",
      parameters: { type: "object", properties: {} },
      async handler(_args, ctx) {
        const tools = ctx.openTools({ only: ["write_file"] });
        for (const path of ["one", "two"])
          await tools.call({ name: "write_file", arguments: { path, content: "new" } });
        tools.close();
        return { written: 2 };
      },
    });
    const { runtime, cwd } = await testRuntime([both], { builtins: true, journal: true });
    const session = await runtime.openSession();
    writeFileSync(join(cwd, "one"), "old");
    await session.call({ id: "outer", name: "write_both", arguments: {} });
    expect(readFileSync(join(cwd, "one"), "utf8")).toBe("new");
    await undoChanges(runtime, { rows: await listChanges(runtime, { call: "outer" }) });
    expect(readFileSync(join(cwd, "one"), "utf8")).toBe("old");
    expect(existsSync(join(cwd, "two"))).toBe(false);
  });

  it("law: undoing everything gives back exactly what was there, whatever was written in whatever order", async () => {
    const name = fc.constantFrom("a", "b", "sub/c");
    const step = fc.record({ name, content: fc.string({ maxLength: 20 }) });
    const before = fc.dictionary(name, fc.string({ maxLength: 20 }));
    await fc.assert(
      fc.asyncProperty(before, fc.array(step, { minLength: 1, maxLength: 6 }), async (files, steps) => {
        const { runtime, cwd } = await testRuntime([], { builtins: true, journal: true });
        for (const [path, content] of Object.entries(files)) {
          mkdirSync(dirname(join(cwd, path)), { recursive: true });
          writeFileSync(join(cwd, path), content);
        }
        const shown = snapshot(cwd);
        const session: Session = await runtime.openSession();
        for (const { name: path, content } of steps)
          await session.call({ name: "write_file", arguments: { path, content } });
        await undoChanges(runtime, { rows: await listChanges(runtime, {}) });
        expect(snapshot(cwd)).toEqual(shown);
      }),
      { numRuns: 12 },
    );
  });
});

describe("hermes undo", () => {
  it("lists, shows what it would do, and takes the newest call back", async () => {
    const home = tempDir();
    const cwd = tempDir();
    const file = join(cwd, "note.txt");
    writeFileSync(file, "first\n");
    const run = (...args: string[]) => hermes(args, { home, cwd });
    expect((await run("call", "write_file", "path=note.txt", "content=second")).code).toBe(0);
    const listed = await run("undo", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { call: "call_1", tool: "write_file", path: file, kind: "write", existed: true, kept: true },
    ]);
    expect((await run("undo", "call_1", "--dry-run")).stdout).toContain("would be: content put back");
    expect(readFileSync(file, "utf8")).toBe("second");
    expect((await run("undo", "--since", "1h")).stdout).toContain("content put back");
    expect(readFileSync(file, "utf8")).toBe("first\n");
    const again = await run("undo", "call_1");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("No change of a file")]);
    expect((await run("undo", "--since", "soon")).code).toBe(2);
  });
});

function snapshot(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return [path, readFileSync(path, "utf8")];
    }),
  );
}
