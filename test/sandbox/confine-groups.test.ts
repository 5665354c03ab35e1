import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openLauncher } from "../../src/env/local/launcher/launcher.js";
import { excessOf, watchUsage } from "../../src/env/local/usage-watch.js";
import {
  controlGroupsIn,
  groupPlace,
  mountedGroups,
  placesFrom,
} from "../../src/env/sandbox/control-groups.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-groups-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("where groups of processes can be made", () => {
  const first = [
    "30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755",
    "31 30 0:27 /outer /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory",
    "32 30 0:28 / /sys/fs/cgroup/pids\\040two rw - cgroup cgroup rw,pids",
    "33 30 0:29 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct",
  ].join("\n");

  test("one mount for each kind, with what a container sees of it", () => {
    const mounts = mountedGroups(first);
    expect(mounts.map((mount) => mount.folder)).toEqual(["/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids two"]);
    const own = "4:memory:/outer/inner\n8:pids:/\n0::/";
    expect(groupPlace({ own, mounts, controller: "memory" })).toBe("/sys/fs/cgroup/memory/inner");
    expect(groupPlace({ own, mounts, controller: "pids" })).toBe("/sys/fs/cgroup/pids two");
    expect(groupPlace({ own: "4:memory:/other", mounts, controller: "memory" })).toBeUndefined();
    expect(groupPlace({ own, mounts, controller: "cpu" })).toBeUndefined();
  });

  /** The files of the second version in an ordinary folder: the kernel's own may not be there. */
  function unified(name: string, shared: Record<string, string>) {
    const top = join(folder, name);
    mkdirSync(join(top, "user.slice/app.slice/shell.scope"), { recursive: true });
    for (const [path, controllers] of Object.entries(shared)) {
      writeFileSync(join(top, path, "cgroup.subtree_control"), `${controllers}\n`);
      writeFileSync(join(top, path, "cgroup.procs"), "");
    }
    const mounts = `40 25 0:30 / ${top} rw,nosuid - cgroup2 cgroup2 rw`;
    return { top, places: placesFrom("0::/user.slice/app.slice/shell.scope\n", mounts) };
  }

  test("one mount for all: the nearest group above that shares both limits out", () => {
    const { top, places } = unified("shared", {
      "user.slice": "memory pids",
      "user.slice/app.slice": "cpu memory pids",
      "user.slice/app.slice/shell.scope": "",
    });
    const nearest = join(top, "user.slice/app.slice");
    expect(places).toEqual({ version: 2, memory: nearest, processes: nearest });
    expect(unified("half", { "user.slice": "memory", "": "pids" }).places).toBeUndefined();
    expect(unified("none", {}).places).toBeUndefined();
  });

  test("limits are set before anybody is in, and the kernel's answers are understood", () => {
    const { top } = unified("limits", {});
    const groups = controlGroupsIn({ version: 2, memory: top, processes: top });
    const group = groups?.make({ memoryBytes: 1_000_000, processes: 7 });
    const [join0 = ""] = group?.joinFiles ?? [];
    const made = join(join0, "..");
    expect(readFileSync(join(made, "memory.max"), "utf8")).toBe("1000000");
    expect(readFileSync(join(made, "memory.swap.max"), "utf8")).toBe("0");
    expect(readFileSync(join(made, "pids.max"), "utf8")).toBe("7");
    expect(group?.reached()).toEqual([]);
    writeFileSync(join(made, "memory.events"), "low 0\nmax 12\noom 1\noom_kill 2\n");
    writeFileSync(join(made, "pids.events"), "max 3\n");
    expect(group?.reached()).toEqual(["memory", "processes"]);
  });

  test("a place where a limit cannot be set is not used, and nothing stays there", () => {
    const missing = join(folder, "missing/place");
    expect(controlGroupsIn({ version: 1, memory: missing, processes: missing })).toBeUndefined();
    expect(existsSync(missing)).toBe(false);
  });
});

test("the launcher starts a program inside a group, and not at all when that fails", async (context) => {
  const own = groupPlace({
    own: readFileSync("/proc/self/cgroup", "utf8"),
    mounts: mountedGroups(readFileSync("/proc/self/mountinfo", "utf8")),
    controller: undefined,
  });
  const group = own === undefined ? "" : join(own, `hermes-test-${process.pid}`);
  try {
    mkdirSync(group);
  } catch {
    return context.skip("[ci-cannot] no group of processes can be made here");
  }
  const launcher = await openLauncher("test");
  const start = (file: string) =>
    launcher?.launch({
      argv: ["cat", "/proc/self/cgroup"],
      cwd: "/",
      env: { PATH: process.env.PATH ?? "" },
      descriptors: ["nothing", "output", "same"],
      joinFiles: [join(group, file)],
    });
  try {
    const inside = await start("cgroup.procs");
    if (inside === undefined || "stage" in inside) throw new Error("not started");
    await inside.exited;
    expect(readFileSync(inside.ends[0] ?? 0, "utf8")).toMatch(/^0::.*\/hermes-test-\d+$/m);
    inside.ends.forEach(closeSync);
    const refused = await start("missing/cgroup.procs");
    expect(refused).toBeDefined();
    const end = refused === undefined || "stage" in refused ? refused : await refused.exited;
    expect(end).toMatchObject({ stage: "resources", code: "ENOENT" });
  } finally {
    await launcher?.close();
    rmdirSync(group);
  }
});

describe.runIf(process.platform === "linux")("a tree that nobody counts together", () => {
  const limits = { memoryBytes: 48 * 1024 ** 2, processes: 20 };

  async function tree(script: string) {
    const child = spawn("perl", ["-e", `$| = 1; ${script}`], { detached: true });
    await once(child.stdout, "data");
    const ended = once(child, "exit");
    return { pid: child.pid ?? 0, ended, end: () => process.kill(-(child.pid ?? 0), "SIGKILL") };
  }
  const children = (count: number, work: string) =>
    `pipe my $r, my $w; for (1 .. ${count}) { next if fork; ${work} syswrite $w, "x"; sleep 30; exit } ` +
    `sysread $r, my $b, 1 for 1 .. ${count}; print "up"; sleep 30`;

  test("is ended when its processes have too much memory together, though each has little", async () => {
    const large = await tree(children(4, 'my $kept = "x" x (20 * 1048576);'));
    const watch = watchUsage(large.pid, limits);
    expect((await large.ended)[1]).toBe("SIGKILL");
    expect(watch.stop()).toBe("memory");
  });

  test("is left alone when they only share what one has made", async () => {
    const shared = await tree(`my $kept = "x" x (10 * 1048576); ${children(4, "")}`);
    expect(excessOf(shared.pid, limits)).toBeUndefined();
    shared.end();
    await shared.ended;
  });

  test("is ended when it has too many processes", async () => {
    const many = await tree(children(25, ""));
    const watch = watchUsage(many.pid, limits);
    await many.ended;
    expect(watch.stop()).toBe("processes");
  });
});
