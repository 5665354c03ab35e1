import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { openLauncher } from "../../src/env/local/launcher/launcher.js";
import { EventReader, encodeRequest } from "../../src/env/local/launcher/protocol.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { runningWith } from "../sandbox/support.js";

const TAG = "HERMES_TEST_TAG";
const root = fileURLToPath(new URL("../..", import.meta.url));
const worksHere =
  process.platform === "linux" && ["x64", "arm64"].includes(process.arch) && existsSync("/usr/bin/perl");

describe("frames", () => {
  test("are put together from any pieces", () => {
    const field = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replaceAll("\0", ""));
    const event = fc.oneof(
      fc.tuple(fc.nat(), fc.nat(), fc.array(fc.nat(99), { maxLength: 3 })).map(([id, pid, ends]) => ({
        fields: ["started", id, pid, ...ends].map(String),
        event: { event: "started", id, pid, ends },
      })),
      fc.tuple(fc.nat(), fc.nat(65_535), fc.array(field, { minLength: 1 })).map(([id, status, report]) => ({
        fields: ["exited", String(id), String(status), ...report],
        event: { event: "exited", id, status, report: report.join("\0").toWellFormed() },
      })),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), (events, size) => {
        const bytes = Buffer.concat(events.map(({ fields }) => encodeRequest(fields)));
        const reader = new EventReader();
        const read = [];
        for (let at = 0; at < bytes.length; at += size)
          read.push(...reader.read(bytes.subarray(at, at + size)));
        expect(read).toEqual(events.map((each) => each.event));
      }),
    );
  });

  test("refuse a field that would be read as two", () => {
    expect(() => encodeRequest(["start", "a\0b"])).toThrow(/NUL/);
  });
});

describe.runIf(worksHere)("the launcher", () => {
  let local: Environment;
  beforeEach(() => {
    local = createLocalEnvironment();
  });
  afterEach(() => local.close());
  const run = (command: ExecRequest["command"], changes: Partial<ExecRequest> = {}) =>
    local.exec({
      command,
      cwd: "/",
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      ...changes,
    });
  const launcherPid = async () => Number((await run("echo $PPID")).output);

  test("is a small process that starts all commands of an environment", async () => {
    const [first, second] = [await launcherPid(), await launcherPid()];
    expect(first).toBe(second);
    expect(first).not.toBe(process.pid);
    const { output } = await run(["cat", `/proc/${first}/cmdline`, `/proc/${first}/status`]);
    expect(output).toMatch(/^hermes-launcher\0/);
    expect(Number(/VmRSS:\s+(\d+)/.exec(output)?.[1])).toBeLessThan(12_000);
  });

  test("hands nothing on but what a command should have", async () => {
    const listed = "ls /proc/self/fd; grep -e ^SigIgn -e ^SigBlk /proc/self/status; env | sort | head -1";
    const { output } = await run(["sh", "-c", listed]);
    expect(output).toMatch(/^0\n1\n2\n3\nSigBlk:\s0+\nSigIgn:\s0+\nAI_AGENT=hermes\n$/);
  });

  test("each command is a session of its own without a terminal", async () => {
    const { output } = await run("echo $$; ps -o sid=,pgid=,tty= -p $$");
    const [pid, ...rest] = output.trim().split(/\s+/);
    expect(rest).toEqual([pid, pid, "?"]);
  });

  test("does not mind the signals that a terminal sends to all", async () => {
    const pid = await launcherPid();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.kill(pid, signal);
    expect(await launcherPid()).toBe(pid);
  });

  test("collects what others leave behind as it ends", async () => {
    const pid = await launcherPid();
    await run("for i in 1 2 3 4 5; do (sleep 0.1 &) ; done");
    const zombies = async () => {
      const rows = await Promise.all(
        (await readdir("/proc"))
          .filter((name) => /^\d+$/.test(name))
          .map((name) => readFile(`/proc/${name}/stat`, "latin1").catch(() => "")),
      );
      return rows.filter(
        (row) => row.includes(`) Z ${pid} `) || (/\(sleep\) . /.test(row) && row.includes(` ${pid} `)),
      );
    };
    await expect.poll(zombies, { timeout: 5_000 }).toEqual([]);
  });

  test("killed in the middle of a command: the command ends with a clear error, the next one runs", async () => {
    const tag = randomUUID();
    const background: string[] = [];
    const child = await local.spawn({
      command: "echo up; sleep 60",
      cwd: "/",
      env: { [TAG]: tag },
      onOutput: (bytes) => background.push(Buffer.from(bytes).toString()),
    });
    await expect.poll(() => background.join(""), { timeout: 5_000 }).toBe("up\n");
    const pid = await launcherPid();
    let started = "";
    const pending = run("echo begun; setsid sleep 60 & wait", {
      env: { [TAG]: tag },
      onChunk: (chunk) => {
        started += chunk;
      },
    });
    await expect.poll(() => started, { timeout: 5_000 }).toBe("begun\n");
    process.kill(pid, "SIGKILL");
    await expect(pending).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("helper process"),
      hint: expect.stringContaining("try again"),
    });
    expect(await child.ended).toMatchObject({ lost: expect.stringContaining("helper process") });
    expect(runningWith(TAG, tag)).toEqual([]);
    const next = await launcherPid();
    expect(next).not.toBe(pid);
    expect((await run("echo works")).output).toBe("works\n");
  });

  test("stopped by a command, it goes on", async () => {
    const stopped = await run("kill -STOP $PPID; echo said");
    expect(stopped).toMatchObject({ output: "said\n", exitCode: 0 });
    expect((await run("echo next")).output).toBe("next\n");
  });

  test("what an earlier one had started ends with the environment too", async () => {
    const tag = randomUUID();
    await run("(setsid sleep 60 &)", { env: { [TAG]: tag } });
    process.kill(await launcherPid(), "SIGKILL");
    await expect
      .poll(async () => (await run("echo works").catch(() => ({ output: "" }))).output)
      .toBe("works\n");
    expect(runningWith(TAG, tag)).toHaveLength(1);
    await local.close();
    expect(runningWith(TAG, tag)).toEqual([]);
  });

  test("ends by itself when whoever opened it is gone, with all that descends from it", async () => {
    const launcher = await openLauncher(randomUUID());
    const tag = randomUUID();
    const launched = await launcher?.launch({
      argv: ["sh", "-c", "env -i setsid sleep 71 & env -i setsid sleep 72 & wait"],
      cwd: "/",
      env: { PATH: process.env.PATH ?? "", [TAG]: tag },
      descriptors: ["nothing", "nothing", "nothing"],
    });
    if (launched === undefined || "stage" in launched) throw new Error("was not started");
    const sleeping = async () => (await run(["pgrep", "-f", "^sleep 7[12]$"])).output;
    await expect.poll(sleeping, { timeout: 5_000 }).toMatch(/^\d+\n\d+\n$/);
    await launcher?.close();
    expect(await sleeping()).toBe("");
    expect(launcher?.alive).toBe(false);
  });

  test("says which step failed", async () => {
    const launcher = await openLauncher(randomUUID());
    const base = { env: { PATH: "/usr/bin:/bin" }, descriptors: ["nothing"] as const };
    const failures = [];
    for (const request of [
      { ...base, argv: ["true"], cwd: "/no/such/folder" },
      { ...base, argv: ["/no/such/program"], cwd: "/" },
      { ...base, argv: ["true"], cwd: "/", descriptors: [{ ours: 1_000_000 }] },
    ]) {
      const launched = await launcher?.launch(request);
      failures.push(launched && "pid" in launched ? await launched.exited : launched);
    }
    await launcher?.close();
    expect(failures).toMatchObject([
      { stage: "folder", code: "ENOENT" },
      { stage: "program", code: "ENOENT" },
      { stage: "resources", code: "ENOENT" },
    ]);
  });

  test("200 timeouts and 200 cancellations leave nothing running", async () => {
    const tag = randomUUID();
    const command = "sleep 81 & (setsid sleep 82 &) ; sleep 83";
    for (let round = 0; round < 10; round += 1) {
      const codes = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const stop = new AbortController();
          const cancelled = index % 2 === 0;
          if (cancelled) setTimeout(() => stop.abort(), 30);
          const limits = { timeoutMs: cancelled ? 20_000 : 30, signal: stop.signal };
          return (await run(command, { ...limits, env: { [TAG]: tag } })).exitCode;
        }),
      );
      expect(codes).toEqual(codes.map((_, index) => (index % 2 === 0 ? 130 : 124)));
    }
    expect(runningWith(TAG, tag)).toEqual([]);
    const pid = await launcherPid();
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ");
    // At most the shell that waits for the next command.
    expect(children.filter((each) => each !== "").length).toBeLessThan(3);
  }, 120_000);

  test("an idle one does not keep a process alive", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hermes-idle-"));
    try {
      const { rolldown } = await import("rolldown");
      const bundle = await rolldown({
        input: join(root, "src/env/local/local.ts"),
        platform: "node",
        external: /^@/,
      });
      await bundle.write({ file: join(folder, "local.mjs"), format: "esm", codeSplitting: false });
      await bundle.close();
      const script = `import { createLocalEnvironment } from ${JSON.stringify(join(folder, "local.mjs"))};
        const local = createLocalEnvironment();
        const request = { cwd: "/", timeoutMs: 9000, signal: new AbortController().signal };
        for (const word of ["one", "two", "three"]) {
          const { output } = await local.exec({ ...request, command: "echo " + word });
          process.stdout.write(output);
        }`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.on("data", (bytes) => {
        output += bytes;
      });
      const ended = await Promise.race([
        once(child, "close"),
        new Promise((resolve) => setTimeout(resolve, 10_000, "still there")),
      ]);
      child.kill("SIGKILL");
      expect([ended, output]).toEqual([[0, null], "one\ntwo\nthree\n"]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
