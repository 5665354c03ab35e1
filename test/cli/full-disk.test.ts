import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../support/runtime.js";
import { main } from "./hermes.js";

/** Runs a script where `/full` is a disk of its own without any room, which only this script sees. */
function onFullDisk(script: string, folder: string) {
  const set = `mount -t tmpfs -o size=3m tmpfs "$1"; ${script}`;
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

  it.skipIf(cannot)("with room again, the next session of a server writes things down", () => {
    const disk = tempDir();
    const work = tempDir();
    const script = `
      import { rmSync } from "node:fs";
      import { createRuntime } from ${JSON.stringify(main.replace(/cli\/main\.js$/, "index.js"))};
      const runtime = await createRuntime({ home: process.argv[2] + "/home", cwd: ${JSON.stringify(work)} });
      const write = async (path) => (await (await runtime.openSession()).call({ name: "write_file", arguments: { path, content: "x" } })).ok;
      console.log("full", await write("a.txt"));
      rmSync(process.argv[2] + "/fill");
      console.log("room", await write("b.txt"));
      await runtime.close();`;
    writeFileSync(join(work, "server.mjs"), script);
    const { stdout } = onFullDisk(
      `mkdir "$1/home"; dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null || :
       "${process.execPath}" ${work}/server.mjs "$1"`,
      disk,
    );
    expect(stdout).toBe("full false\nroom true\n");
  });

  it.skipIf(cannot)("is told by backup and restore, which leave nothing behind", () => {
    const home = tempDir();
    const disk = tempDir();
    writeFileSync(join(home, "notes"), randomBytes(2_000_000));
    const hermes = `"${process.execPath}" "$HERMES_MAIN"`;
    const { stdout, stderr } = onFullDisk(
      `${hermes} backup ${home}.tgz --home ${home} >/dev/null
       dd if=/dev/zero of="$1/fill" bs=4k count=400 2>/dev/null
       ${hermes} backup "$1/b.tgz" --home ${home} || echo "backup $?"
       ${hermes} restore ${home}.tgz --home "$1" --yes || echo "restore $?"; ls -A "$1"; rm ${home}.tgz`,
      disk,
    );
    expect(stdout).toBe("backup 4\nrestore 4\nfill\n");
    expect(stderr).toContain("b.tgz cannot be written: the disk is full");
    expect(stderr).toContain(`cannot be unpacked: the disk of ${disk} is full`);
  });
});
