import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDockerEnvironment } from "../../src/env/docker/docker.js";
import type { Environment } from "../../src/env/environment.js";
import type { TestEngine } from "../support/docker-engine.js";
import { containerOf, containers, open, optionsFor, run, tempFolder } from "./support.js";

const SECRET = "canary-5ecret-value";

/** What both engines must do alike. `engine` is there once the tests run. */
export function describeCore(engine: () => TestEngine): void {
  describe("commands", () => {
    it.each(["image", "shImage"] as const)(
      "run in the container, with bash or only sh (%s)",
      async (image) => {
        const environment = await open(engine(), { image: engine()[image] });
        const result = await run(environment, "printf out; printf err >&2; pwd; exit 3", { cwd: "/root" });
        expect(result).toMatchObject({ output: "outerr/root\n", exitCode: 3, cwd: "/root" });
        const apart = await run(environment, ["cat"], { stdin: "a\0\xff", separateStderr: true });
        expect(apart).toMatchObject({ exitCode: 0, stderr: "" });
        // Input that nobody reads does not turn up as an error.
        const unread = await run(environment, "head -c 3", { stdin: "x".repeat(3_000_000) });
        expect(unread).toMatchObject({ output: "xxx", exitCode: 0 });
      },
    );

    it("get variables by name, whose values are nowhere to be read outside", async () => {
      const environment = await open(engine(), { passthrough: ["TOKEN", "UNSET"], env: { TOKEN: SECRET } });
      const running = run(environment, 'echo "$TOKEN [$UNSET]"; sleep 1');
      await delay(600);
      const commandLines = readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => readOrEmpty(`/proc/${pid}/cmdline`));
      const { body } = await engine().api.send({
        path: `/containers/${await containerOf(environment)}/json`,
      });
      expect((await running).output).toBe(`${SECRET} []\n`);
      expect(body.toString("utf8")).toContain("hermes-task-id");
      expect(body.toString("utf8")).not.toContain(SECRET);
      expect(commandLines.filter((line) => line.includes(SECRET))).toEqual([]);
    });

    it("have a terminal of the size they are given, and of the one it is changed to", async () => {
      const environment = await open(engine());
      let shown = "";
      const started = await environment.spawn({
        // Podman answers before the terminal has its new size.
        command:
          "stty size; read -r line; n=0; until stty size | grep '20 50' || [ $n -gt 100 ]; do n=$((n+1)); sleep 0.1; done; echo [$line]",
        cwd: "/",
        pty: { columns: 97, rows: 31 },
        onOutput: (bytes) => {
          shown += Buffer.from(bytes).toString("utf8");
        },
      });
      await expect.poll(() => shown, { timeout: 10_000 }).toContain("31 97");
      started.resize({ columns: 50, rows: 20 });
      // Keys with which the engine's own program would leave the terminal.
      await started.write("a\x10b\r");
      expect(await started.ended).toEqual({ exitCode: 0 });
      expect(shown).toContain("20 50");
      expect(shown).toContain("[a\x10b]");
    });
  });

  describe("the boundary", () => {
    let environment: Environment;
    beforeAll(async () => {
      environment = await createDockerEnvironment(
        optionsFor(engine(), { memoryMb: 64, pidsLimit: 40, image: engine().shImage }),
      );
    });
    afterAll(() => environment?.close());
    const output = async (command: string) => (await run(environment, command)).output;

    it("leaves five capabilities, no way to gain others, and a system call filter", async () => {
      const status = await output("cat /proc/self/status");
      // CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, SETGID 6, SETUID 7
      expect(/^CapEff:\s*(\w+)/m.exec(status)?.[1]).toBe("00000000000000cb");
      expect(/^CapBnd:\s*(\w+)/m.exec(status)?.[1]).toBe("00000000000000cb");
      expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
      expect(status).toMatch(/^Seccomp:\s*2$/m);
    });

    it("lets nobody mount, make devices or change the kernel's settings", async () => {
      const tries = [
        "mount -t tmpfs none /mnt",
        "mknod /tmp/x b 8 0",
        "echo 1 >/proc/sys/kernel/sysrq",
        "chroot / true",
      ];
      for (const command of tries)
        expect((await run(environment, `mkdir -p /mnt; ${command}`)).exitCode, command).not.toBe(0);
    });

    it("has temporary folders of a limited size that nothing is run from, but for /tmp", async () => {
      const mounts = await output("cat /proc/mounts");
      const optionsOf = (path: string) =>
        (mounts.split("\n").find((line) => line.split(" ")[1] === path) ?? "").split(" ")[3]?.split(",") ??
        [];
      expect(optionsOf("/tmp")).toEqual(expect.arrayContaining(["rw", "nosuid", "size=524288k"]));
      expect(optionsOf("/tmp")).not.toContain("noexec");
      expect(optionsOf("/var/tmp")).toEqual(expect.arrayContaining(["noexec", "size=262144k"]));
      expect(optionsOf("/run")).toEqual(expect.arrayContaining(["noexec", "size=65536k"]));
      expect(optionsOf("/dev/shm")).toContain("size=1048576k");
      expect((await run(environment, "cp /bin/busybox /tmp/true && /tmp/true")).exitCode).toBe(0);
    });

    it("has no network but its own loopback", async () => {
      const devices = (await output("cat /proc/net/dev")).matchAll(/^\s*(\w+):/gm);
      expect(
        [...devices]
          .map((match) => match[1])
          .filter((name) => !/^(lo|.*tnl0|sit0|gre.*|erspan0|ip.*)$/.test(name ?? "")),
      ).toEqual([]);
    });

    it("holds the number of processes", async () => {
      const many = "n=0; while [ $n -lt 80 ]; do sleep 2 & n=$((n+1)); done";
      const result = await run(environment, many);
      expect(result.exitCode).not.toBe(0);
      expect(result.output).toMatch(/can't fork|Resource temporarily unavailable/);
    });

    it("ends a command that takes too much memory with 137, and not the container", async () => {
      const before = await containerOf(environment);
      await expect
        .poll(async () => (await run(environment, "tail /dev/zero")).exitCode, { timeout: 20_000 })
        .toBe(137);
      expect(await output("echo still here")).toBe("still here\n");
      expect(await containerOf(environment)).toBe(before);
    });
  });

  describe("files", () => {
    it("of a persistent container are there again in the next one; no container is", async () => {
      const sandboxDir = tempFolder();
      const persistent = { persistent: true, sandboxDir, task: "kept" } as const;
      const first = await createDockerEnvironment(optionsFor(engine(), persistent));
      await run(first, "echo one >~/a; echo two >/workspace/b");
      await first.close();
      expect((await containers(engine())).filter((row) => row.Labels?.["hermes-task-id"] === "kept")).toEqual(
        [],
      );
      const second = await open(engine(), persistent);
      expect((await run(second, "cat ~/a /workspace/b")).output).toBe("one\ntwo\n");
      const [folder = ""] = readdirSync(join(sandboxDir, "docker"));
      expect(statSync(join(sandboxDir, "docker", folder)).mode & 0o777).toBe(0o700);
    });

    it("of other containers go with them, and volumes of the image too", async () => {
      const environment = await createDockerEnvironment(optionsFor(engine(), { task: "gone" }));
      const id = await containerOf(environment);
      await environment.close();
      await expect(engine().api.send({ path: `/containers/${id}/json` })).rejects.toMatchObject({
        status: 404,
      });
      const { Volumes } = await engine().api.json<{ Volumes: readonly unknown[] | null }>({
        path: "/volumes",
      });
      expect(Volumes ?? []).toEqual([]);
    });

    it("of this machine are mounted as asked; what is not there is not made", async () => {
      const folder = tempFolder();
      writeFileSync(join(folder, "key"), "text");
      const missing = join(folder, "missing");
      const bad = open(engine(), { mounts: [{ source: missing, target: "/x" }] });
      await expect(bad).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining(missing),
      });
      expect(existsSync(missing)).toBe(false);
      const environment = await open(engine(), {
        mounts: [
          { source: folder, target: "/keys", readonly: true },
          { source: folder, target: "/shared" },
        ],
      });
      expect((await run(environment, "cat /keys/key; echo >/keys/new")).output).toMatch(
        /^text.*Read-only file system/s,
      );
      expect((await run(environment, "echo hello >/shared/new")).exitCode).toBe(0);
      expect(readFileSync(join(folder, "new"), "utf8")).toBe("hello\n");
    });
  });

  describe("when something is missing", () => {
    it("an image that cannot be pulled is a clear error", async () => {
      const progress: string[] = [];
      const image = "localhost:1/nothing/here:9";
      const opening = open(engine(), { image, onProgress: (text) => void progress.push(text) });
      await expect(opening).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining(image),
        hint: expect.stringContaining("docker pull"),
      });
      expect(progress[0]).toBe(`pulling ${image}`);
    });

    it("an image without a shell is one too, and leaves no container", async () => {
      const before = (await containers(engine())).length;
      await engine().importEmptyImage("hermes-test-empty:latest");
      const opening = open(engine(), { image: "hermes-test-empty:latest" });
      await expect(opening).rejects.toThrow(/hermes-test-empty:latest has no `sh`/);
      expect((await containers(engine())).length).toBe(before);
    });
  });

  describe("a container that is lost", () => {
    it("mid-command is an error within 5 s; it is started again for the next one", async () => {
      const environment = await open(engine(), { task: "killed" });
      const id = await containerOf(environment);
      await run(environment, "echo kept >/root/file");
      const running = run(environment, "echo begun; sleep 60").catch((error: unknown) => error);
      await delay(500);
      const killed = Date.now();
      await engine().api.send({ method: "POST", path: `/containers/${id}/kill` });
      expect(await running).toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/container ended/),
      });
      expect(Date.now() - killed).toBeLessThan(5_000);
      expect((await run(environment, "cat /root/file")).output).toBe("kept\n");
      expect(await containerOf(environment)).toBe(id);
    });

    it("for good takes its files along, which is said once before a new one is used", async () => {
      const environment = await open(engine(), { task: "removed" });
      await run(environment, "echo lost >/root/file");
      await remove(await containerOf(environment));
      const next = await run(environment, "cat /root/file").catch((error: unknown) => error);
      expect(next).toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/its files with it/),
        details: { environment_recreated: true },
      });
      expect(await run(environment, "cat /root/file")).toMatchObject({ exitCode: 1 });
    });

    it("is made anew without a word when all that was to be kept still is", async () => {
      const environment = await open(engine(), { persistent: true, sandboxDir: tempFolder(), task: "anew" });
      await run(environment, "echo kept >/workspace/file");
      await remove(await containerOf(environment));
      expect((await run(environment, "cat /workspace/file")).output).toBe("kept\n");
    });

    it("can be stopped while nobody uses it, and starts with the next command", async () => {
      const environment = await open(engine(), { task: "idle" });
      await run(environment, "echo kept >/root/file; sleep 60 >/dev/null 2>&1 &");
      await environment.suspend?.();
      const id = await containerOf(environment);
      expect((await run(environment, "cat /root/file; ps | grep -c '[s]leep 60'")).output).toBe("kept\n0\n");
      expect(await containerOf(environment)).toBe(id);
    });
  });

  async function remove(id: string): Promise<void> {
    await engine().api.send({ method: "DELETE", path: `/containers/${id}`, query: { force: true } });
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
