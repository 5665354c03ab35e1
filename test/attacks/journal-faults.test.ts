import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../../src/index.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, expectWellFormed, tool, within } from "./support.js";

expectNoUnheardRejections();

/** A file system of eight megabytes, where this user may mount one. */
function tinyDisk(): string | undefined {
  const folder = tempDir("hermes-tiny-");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  onTestEnd(() => void execFileSync("umount", ["-l", folder], { stdio: "ignore" }));
  return folder;
}

const reads = () => tool("reads", (args) => `read ${(args as { x: number }).x}`);

describe("a journal whose disk is full", () => {
  it("what changes things does not run, what only reads is answered with a notice, and all is well again with space", async ({
    skip,
  }) => {
    const disk = tinyDisk();
    if (disk === undefined) return skip("only root may mount a small disk");
    let wrote = 0;
    const writes = tool(
      "writes",
      () => {
        wrote += 1;
        return "wrote";
      },
      {
        effects: () => [{ action: "memory:write", resource: "one", mode: "write" }],
      },
    );
    const home = join(disk, "home");
    mkdirSync(home);
    const { runtime } = await testRuntime([reads(), writes], { home, journal: true });
    const session = await runtime.openSession();
    expect((await session.call({ name: "writes" })).ok).toBe(true);
    const ballast = join(disk, "ballast");
    try {
      writeFileSync(ballast, Buffer.alloc(16 * 1024 * 1024));
    } catch {
      // Full is what was wanted.
    }
    const refused: boolean[] = [];
    for (let index = 0; index < 200; index += 1) {
      const before = wrote;
      const name = index % 2 === 0 ? "writes" : "reads";
      const result = await within(10_000, session.call({ name, arguments: { x: "y".repeat(500) } }));
      if (result === "hangs") throw new Error("a call hangs on a full disk");
      expectWellFormed(result);
      if (name === "reads") expect(result.ok).toBe(true);
      else expect(wrote - before).toBe(result.ok ? 1 : 0);
      refused.push(!result.ok || result.notices !== undefined);
    }
    expect(refused).toContain(true);
    rmSync(ballast);
    const after = await session.call({ name: "writes" });
    expect(after.error).toBeUndefined();
    expect(after.notices).toBeUndefined();
    const rows = await (await runtime.journal()).recent({ limit: 500 });
    expect(rows.find((row) => row.call_id === after.id)).toMatchObject({ tool: "writes", status: "ok" });
  }, 60_000);

  it("a result too large for the disk is cut inline, not lost", async ({ skip }) => {
    const disk = tinyDisk();
    if (disk === undefined) return skip("only root may mount a small disk");
    const home = join(disk, "home");
    mkdirSync(home);
    const { runtime } = await testRuntime([tool("big", () => "z".repeat(9 * 1024 * 1024))], { home });
    const session = await runtime.openSession();
    const result = await session.call({ name: "big" });
    expect(result.ok).toBe(true);
    expect(result.truncated).toBe(true);
    expect(result.spilled_to).toBeUndefined();
    expect(textOf(result.content)).toContain("could not be saved");
    expect(textOf(result.content).length).toBeLessThanOrEqual(100_000);
  });
});

describe("a journal that cannot be used at all", () => {
  it("a file where the home should be: the error says so, the process lives", async () => {
    const home = join(tempDir(), "home");
    writeFileSync(home, "in the way");
    const outcome = await testRuntime([reads()], { home, journal: true })
      .then(({ runtime }) => runtime.openSession())
      .then(
        () => "opened",
        (error: Error) => error.message,
      );
    expect(outcome).not.toBe("opened");
    expect(existsSync(home)).toBe(true);
  });

  it("garbage for a database is set aside or refused with a reason, never silently used", async () => {
    const home = tempDir();
    writeFileSync(join(home, "state.db"), "this is no database, and longer than a hundred bytes ".repeat(10));
    const outcome = await testRuntime([reads()], { home, journal: true })
      .then(async ({ runtime, logged }) => {
        const session = await runtime.openSession();
        const result = await session.call({ name: "reads", arguments: { x: 1 } });
        expectWellFormed(result);
        return logged.join("\n");
      })
      .catch((error: Error) => error.message);
    expect(outcome).toMatch(/state\.db/);
  });
});
