// @needs root apptainer busybox
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../../src/env/environment.js";
import { runningWith } from "../sandbox/support.js";
import { type ApptainerRig, startApptainer } from "../support/apptainer.js";

let rig: ApptainerRig;

beforeAll(() => {
  rig = startApptainer();
});
afterAll(() => {
  const left = rig.instances();
  rig.stop();
  expect(left).toEqual([]);
});

async function shell(environment: Environment, command: string): Promise<string> {
  const signal = new AbortController().signal;
  const done = await environment.exec({ command, cwd: "/root", timeoutMs: 20_000, signal });
  return done.output;
}

async function withEnvironment(
  changes: Parameters<ApptainerRig["open"]>[0],
  use: (environment: Environment) => Promise<void>,
): Promise<void> {
  const environment = await rig.open(changes);
  try {
    await use(environment);
  } finally {
    await environment.close();
  }
}

describe("singularity", { timeout: 60_000 }, () => {
  test("keeps what is changed when that is wanted, for the same task only", async () => {
    const kept = { persistent: true, task: "kept" };
    await withEnvironment(kept, async (environment) => {
      await shell(environment, "echo one > /root/note");
    });
    expect(rig.instances()).toEqual([]);
    await withEnvironment(kept, async (environment) => {
      expect(await shell(environment, "cat /root/note")).toBe("one\n");
    });
    await withEnvironment({ persistent: true, task: "other" }, async (environment) => {
      expect(await shell(environment, "cat /root/note 2>&1")).toContain("No such file");
    });
  });

  test("without that, nothing stays, and the image is never changed", async () => {
    await withEnvironment({ task: "fleeting" }, async (environment) => {
      expect(await shell(environment, "echo one > /root/note; cat /root/note")).toBe("one\n");
    });
    expect(existsSync(join(rig.image, "root/note"))).toBe(false);
    await withEnvironment({ task: "fleeting" }, async (environment) => {
      expect(await shell(environment, "ls /root | wc -l")).toBe("0\n");
    });
  });

  test("suspends and wakes up with every file, and offers that only where files are kept", async () => {
    await withEnvironment({ persistent: true, task: "sleepy" }, async (environment) => {
      await shell(environment, "echo one > /root/note");
      await environment.suspend?.();
      expect(rig.instances()).toEqual([]);
      expect(await shell(environment, "cat /root/note")).toBe("one\n");
    });
    await withEnvironment({}, async (environment) => {
      expect(environment.suspend).toBeUndefined();
    });
  });

  test("a container that ended with its files is said once, then a new one starts", async () => {
    await withEnvironment({}, async (environment) => {
      await shell(environment, "echo one > /root/note");
      const { facts } = await environment.describe();
      rig.run("instance", "stop", "--force", "--signal", "KILL", facts.instance ?? "?");
      await expect(shell(environment, "cat /root/note")).rejects.toMatchObject({ code: "unavailable" });
      const said = await shell(environment, "cat /root/note 2>&1").catch((error: Error) => error.message);
      const after = said.includes("is lost") ? await shell(environment, "cat /root/note 2>&1") : said;
      expect(after).toContain("No such file");
    });
  });

  test("nothing of this machine is inside but what was mounted", async () => {
    const shared = join(rig.home, "a:b, c");
    mkdirSync(shared);
    writeFileSync(join(shared, "in"), "from here\n");
    const mounts = [
      { source: shared, target: "/shared" },
      { source: shared, target: "/looked-at", readonly: true },
    ];
    await withEnvironment({ mounts }, async (environment) => {
      expect(await shell(environment, "cat /shared/in; echo back > /shared/out; ls /shared")).toBe(
        "from here\nin\nout\n",
      );
      expect(await shell(environment, "touch /looked-at/x 2>&1")).toContain("Read-only");
      expect(await shell(environment, `ls '${rig.home}' 2>&1`)).toContain("No such file");
      expect(await shell(environment, "ps -e | wc -l")).toMatch(/^\d{1,2}\n$/);
    });
  });

  test("an image with nothing but busybox works", async () => {
    await withEnvironment({ image: rig.shImage }, async (environment) => {
      expect(await shell(environment, "echo $((6 * 7)); cd /tmp")).toBe("42\n");
      await environment.files.write("/tmp/a file", Buffer.from("text"));
      expect(await shell(environment, "cat '/tmp/a file'")).toBe("text");
    });
  });

  test("an image that is missing or empty is explained", async () => {
    await expect(rig.open({ image: "/no/such.sif" })).rejects.toThrow(/There is no container image/);
    await expect(rig.open({ image: "relative/folder" })).rejects.toThrow(/no container image|full path/);
    const empty = join(rig.home, "empty");
    mkdirSync(empty);
    await expect(rig.open({ image: empty })).rejects.toMatchObject({ code: "unavailable" });
    expect(rig.instances()).toEqual([]);
  });

  test("what a dead runtime left is ended by the next one of the same task, nobody else's", async () => {
    await withEnvironment({ task: "heir" }, async (environment) => {
      const { facts } = await environment.describe();
      const own = facts.instance ?? "";
      const dead = own.replace(/-\d+-[0-9a-f.]+-[0-9a-f]{6}$/, "-999999999-1-abcdef");
      const stranger = "somebody-elses";
      for (const name of [dead, stranger]) {
        rig.run("instance", "start", "--containall", "--no-home", "--writable-tmpfs", startable(), name);
      }
      await withEnvironment({ task: "heir" }, async () => {
        expect(rig.instances()).not.toContain(dead);
        expect(rig.instances()).toEqual(expect.arrayContaining([own, stranger]));
      });
      rig.run("instance", "stop", stranger);
    });
  });

  test("closing ends what runs inside", async () => {
    const environment = await rig.open();
    await environment.spawn({
      command: "export SEEN=singular-$$; setsid sleep 300 & sleep 300",
      cwd: "/root",
      env: { LEFT_BY: "singularity-test" },
      onOutput: () => undefined,
    });
    await environment.close();
    expect(runningWith("LEFT_BY", "singularity-test")).toEqual([]);
  });
});

/** The image as it was built for the first environment. */
function startable(): string {
  const built = join(rig.home, "started.sif");
  if (!existsSync(built)) rig.run("build", built, rig.image);
  return built;
}
