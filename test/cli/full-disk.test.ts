import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../support/runtime.js";
import { main } from "./hermes.js";

/** Runs a script where `/full` is a disk of its own without any room, which only this script sees. */
function onFullDisk(script: string, folder: string) {
  const set = `mount -t tmpfs -o size=400k tmpfs "$1"; ${script}`;
  return spawnSync("unshare", ["-rm", "sh", "-ec", set, "sh", folder], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder, HERMES_MAIN: main },
  });
}

const cannot = onFullDisk("true", tempDir()).status !== 0;

describe("a home on a full disk", () => {
  it.skipIf(cannot)("lets reads through, and refuses what changes something", () => {
    const disk = tempDir();
    const work = tempDir();
    writeFileSync(join(work, "a.txt"), "still here\n");
    const hermes = `"${process.execPath}" "$HERMES_MAIN" --home "$1/home"`;
    const fill = 'dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null || :';
    const { stdout, stderr } = onFullDisk(
      `${hermes} call read_file path=${work}/a.txt >/dev/null; ${fill}
       ${hermes} call read_file path=${work}/a.txt; echo "read $?"
       ${hermes} call write_file path=${work}/b.txt content=x && echo written || echo "write $?"`,
      disk,
    );
    expect(stdout).toContain("still here");
    expect(stdout).toContain("read 0");
    expect(stdout).not.toContain("written");
    expect(stderr).toContain("Calls that only read go on");
    expect(existsSync(join(work, "b.txt"))).toBe(false);
  });
});
