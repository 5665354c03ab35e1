import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Transfer } from "../../src/env/environment.js";
import { describeLocal } from "../../src/env/local/describe-local.js";
import { copyTree } from "../../src/env/local/transfer.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-transfer-"));
});
afterEach(() => {
  execFileSync("chmod", ["-R", "u+rwx", folder]);
  rmSync(folder, { recursive: true, force: true });
});
const at = (...names: readonly string[]) => join(folder, ...names);

describe("copying on this machine", () => {
  it("keeps content, modes, times, links and empty folders", async () => {
    const content = randomBytes(3_000_000);
    mkdirSync(at("from/sub/empty"), { recursive: true });
    writeFileSync(at("from/big"), content, { mode: 0o640 });
    writeFileSync(at("from/-odd\n'name"), "x", { mode: 0o755 });
    symlinkSync("big", at("from/link"));
    symlinkSync("/etc", at("from/out"));
    symlinkSync("nowhere", at("from/dangling"));
    utimesSync(at("from/big"), 1_000_000, 1_000_000);
    chmodSync(at("from/sub"), 0o500);
    expect(await copyTree({ from: at("from"), to: at("deep/er/to") })).toEqual({
      files: 5,
      bytes: 3_000_001,
    });
    expect(readFileSync(at("deep/er/to/big")).equals(content)).toBe(true);
    expect(lstatSync(at("deep/er/to/big"))).toMatchObject({ mode: 0o100640, mtimeMs: 1_000_000_000 });
    expect(lstatSync(at("deep/er/to/-odd\n'name")).mode & 0o777).toBe(0o755);
    expect(["link", "out", "dangling"].map((name) => readlinkSync(at("deep/er/to", name)))).toEqual([
      "big",
      "/etc",
      "nowhere",
    ]);
    expect(readdirSync(at("deep/er/to/sub"))).toEqual(["empty"]);
    expect(lstatSync(at("deep/er/to/sub")).mode & 0o777).toBe(0o500);
  });

  it("pours a folder into one that exists and replaces files and links, not what links lead to", async () => {
    mkdirSync(at("from"));
    writeFileSync(at("from/a"), "new");
    writeFileSync(at("from/b"), "new");
    mkdirSync(at("to"));
    writeFileSync(at("to/kept"), "kept");
    writeFileSync(at("to/a"), "old");
    writeFileSync(at("outside"), "untouched");
    symlinkSync(at("outside"), at("to/b"));
    await copyTree({ from: at("from"), to: at("to") });
    expect(readdirSync(at("to")).sort()).toEqual(["a", "b", "kept"]);
    expect(readFileSync(at("to/b"), "utf8")).toBe("new");
    expect(readFileSync(at("outside"), "utf8")).toBe("untouched");
  });

  it("never writes through a linked folder inside the target", async () => {
    mkdirSync(at("from/sub"), { recursive: true });
    writeFileSync(at("from/sub/file"), "x");
    mkdirSync(at("to"));
    mkdirSync(at("elsewhere"));
    symlinkSync(at("elsewhere"), at("to/sub"));
    await expect(copyTree({ from: at("from"), to: at("to") })).rejects.toMatchObject({ code: "denied" });
    expect(readdirSync(at("elsewhere"))).toEqual([]);
  });

  it("follows the link that it is given itself, and leaves out pipes", async () => {
    mkdirSync(at("real"));
    writeFileSync(at("real/file"), "x");
    execFileSync("mkfifo", [at("real/pipe")]);
    symlinkSync(at("real"), at("alias"));
    expect(await copyTree({ from: at("alias"), to: at("copy") })).toEqual({ files: 1, bytes: 1 });
    expect(readdirSync(at("copy"))).toEqual(["file"]);
    await expect(copyTree({ from: at("real/pipe"), to: at("other") })).rejects.toThrow(
      /not a file or a folder/,
    );
  });

  it("refuses what makes no sense, and leaves nothing half done behind", async () => {
    mkdirSync(at("from"));
    writeFileSync(at("from/file"), "x");
    mkdirSync(at("folder"));
    const transfers: readonly Transfer[] = [
      { from: at("missing"), to: at("x") },
      { from: at("from"), to: at("from/inside") },
      { from: at("from"), to: at("from") },
      { from: at("from/file"), to: at("folder") },
      { from: at("from"), to: at("from/file") },
      { from: "relative", to: at("x") },
      { from: at("from"), to: at("x"), signal: AbortSignal.abort() },
    ];
    for (const transfer of transfers)
      await expect(copyTree(transfer)).rejects.toMatchObject({ name: "ToolError" });
    expect(existsSync(at("x"))).toBe(false);
    expect(execFileSync("find", [folder, "-name", "*.tmp"], { encoding: "utf8" })).toBe("");
  });
});

describe("the description of this machine", () => {
  const local = { name: "local", cwd: "/", home: "/root", env: {}, launcher: true };
  const problem = { unavailable: "bubblewrap is not installed", fix: "install bubblewrap" };

  it("gives facts, and whether the sandbox that is required works", async () => {
    const open = await describeLocal({ ...local, sandbox: { mode: "auto", problem } });
    expect(open).toMatchObject({ kind: "local", ok: true, cwd: "/", home: "/root" });
    expect(open.facts.isolation).toBe("none (bubblewrap is not installed)");
    expect(Object.values(open.facts).every((fact) => fact !== "")).toBe(true);
    const closed = await describeLocal({ ...local, sandbox: { mode: "required", problem } });
    expect(closed).toMatchObject({ ok: false, fix: "install bubblewrap" });
    expect(closed.reason).toContain("bubblewrap is not installed");
    const fine = await describeLocal({ ...local, sandbox: { mode: "required" } });
    expect(fine).toMatchObject({
      ok: true,
      facts: { isolation: "bubblewrap", starts: "from a helper process" },
    });
  });
});
