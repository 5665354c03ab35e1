import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { RunningProcess, SpawnRequest } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { runningWith, skipWithoutSandbox } from "../sandbox/support.js";

const TAG = "HERMES_TEST_TAG";

describe.each([
  { mode: "from the launcher", sandboxed: false, launcher: true },
  { mode: "in the sandbox", sandboxed: true, launcher: true },
  { mode: "without the launcher", sandboxed: false, launcher: false },
])("a program in the background, $mode", ({ sandboxed, launcher }) => {
  if (sandboxed) skipWithoutSandbox();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-spawn-")));
  const environment = () =>
    createLocalEnvironment({
      launcher,
      ...(sandboxed && { sandbox: { mode: "required" as const, workspace: folder } }),
    });
  const local = environment();
  afterAll(async () => {
    await local.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(
    command: SpawnRequest["command"],
    changes: Partial<SpawnRequest> = {},
  ): Promise<RunningProcess & { output(): string; bytes(): Buffer }> {
    const chunks: Uint8Array[] = [];
    const child = await local.spawn({
      command,
      cwd: folder,
      onOutput: (bytes) => chunks.push(bytes),
      ...changes,
    });
    const bytes = () => Buffer.concat(chunks);
    return Object.assign(child, { output: () => bytes().toString(), bytes });
  }

  test("prints, ends and tells how", async () => {
    const child = await start("echo out; echo err >&2; exit 3");
    expect(await child.ended).toEqual({ exitCode: 3 });
    expect(child.output()).toBe("out\nerr\n");
    expect([child.pty, typeof child.pid]).toEqual([false, "number"]);
  });

  test("killed by a signal ends with 128 plus its number", async () => {
    expect(await (await start("kill -9 $$")).ended).toEqual({ exitCode: 137 });
  });

  test("hands over every byte as it is", async () => {
    const child = await start(
      "head -c 3000000 /dev/urandom | tee copy; printf '\\xff\\0\\xfe' | tee -a copy",
    );
    await child.ended;
    const { readFile } = await import("node:fs/promises");
    expect(child.bytes().equals(await readFile(join(folder, "copy")))).toBe(true);
  });

  test("reads what is written to it until its input is closed", async () => {
    const child = await start('while read -r line; do echo "got $line"; done; echo end');
    await child.write("one\n");
    await expect.poll(child.output, { timeout: 5_000 }).toBe("got one\n");
    await child.write(Buffer.from("two\n"));
    await child.closeInput();
    expect(await child.ended).toEqual({ exitCode: 0 });
    expect(child.output()).toBe("got one\ngot two\nend\n");
    await expect(child.write("late")).rejects.toThrow(/does not take input any more/);
  });

  test("gets a large input whole", async () => {
    const child = await start("wc -c");
    await child.write("x".repeat(3_000_000));
    await child.closeInput();
    await child.ended;
    expect(child.output().trim()).toBe("3000000");
  });

  test("can be asked whether it waits for input", async () => {
    const reading = await start('sleep 0.1; read -r line; echo "$line"; sleep 60');
    await expect.poll(() => reading.waitsForInput(), { timeout: 5_000 }).toBe(true);
    await reading.write("answer\n");
    await expect.poll(reading.output, { timeout: 5_000 }).toBe("answer\n");
    expect(await reading.waitsForInput()).toBe(false);
    await reading.end();
    expect(await reading.waitsForInput()).toBe(false);
  });

  test("waits while its output is not read", async () => {
    const child = await start("head -c 4000000 /dev/zero; touch all-written");
    child.pauseOutput(true);
    await delay(300);
    expect(child.bytes().length).toBeLessThan(4_000_000);
    child.pauseOutput(false);
    await child.ended;
    expect(child.bytes().length).toBe(4_000_000);
  });

  test("ends with everything it started, wherever that went", async () => {
    const tag = randomUUID();
    const child = await start(
      [
        "sleep 61 &",
        "setsid sleep 62 &",
        "(setsid bash -c 'trap \"\" TERM HUP; echo ready; while :; do sleep 1; done' &)",
        "wait; sleep 60",
      ].join("\n"),
      { env: { [TAG]: tag } },
    );
    await expect.poll(child.output, { timeout: 5_000 }).toBe("ready\n");
    expect(await child.end()).toEqual([]);
    expect(runningWith(TAG, tag)).toEqual([]);
    expect((await child.ended).exitCode).toBeGreaterThan(128);
  });

  test("that leaves somebody with its output ends all the same, and can still be ended wholly", async () => {
    const tag = randomUUID();
    const child = await start("sleep 63 & echo done", { env: { [TAG]: tag } });
    expect(await child.ended).toEqual({ exitCode: 0 });
    expect(child.output()).toBe("done\n");
    expect(runningWith(TAG, tag)).toHaveLength(sandboxed ? 0 : 1);
    expect(await child.end()).toEqual([]);
    expect(runningWith(TAG, tag)).toEqual([]);
  });

  test("is not hurt by a listener that throws", async () => {
    const child = await start("echo a; echo b; exit 4", {
      onOutput() {
        throw new Error("listener");
      },
    });
    expect(await child.ended).toEqual({ exitCode: 4 });
  });

  test("carries a mark, gets its folder and variables, and leaves none of them to others", async () => {
    const child = await start('pwd; printenv HERMES_EXEC_ID EXTRA; printenv LANG || echo "no LANG"', {
      env: { EXTRA: "e x", LANG: undefined },
    });
    await child.ended;
    expect(child.output()).toBe(`${folder}\n${child.mark}\ne x\nno LANG\n`);
  });

  test("given as an argument vector is touched by no shell", async () => {
    const child = await start(["printf", "[%s]", "$HOME", "a b"]);
    expect(await child.ended).toEqual({ exitCode: 0 });
    expect(child.output()).toBe("[$HOME][a b]");
  });

  test("that is not there ends as a shell would say", async () => {
    writeFileSync(join(folder, "plain-file"), "", { mode: 0o644 });
    const ends = [];
    for (const program of ["no-such-program-here", join(folder, "plain-file")]) {
      const child = await start([program]);
      ends.push([(await child.ended).exitCode, child.output().split(": ").at(-1)]);
      expect([await child.end(), await child.waitsForInput()]).toEqual([[], false]);
    }
    expect(ends).toEqual([
      [127, expect.stringMatching(/not found\n$/)],
      [126, expect.stringMatching(/permission denied\n$/i)],
    ]);
  });

  test("does not start in a folder that is not there", async () => {
    await expect(start("true", { cwd: join(folder, "gone") })).rejects.toThrow(/does not exist/);
    await expect(start("echo a\0b")).rejects.toThrow(/NUL/);
  });

  test("has no size without a terminal", async () => {
    const child = await start("true");
    expect(() => child.resize({ columns: 80, rows: 24 })).toThrow(/terminal/);
    await child.ended;
  });

  test("ends with its environment, and so does what a command has left", async () => {
    const tag = randomUUID();
    const mine = environment();
    const request = { cwd: folder, env: { [TAG]: tag } };
    const child = await mine.spawn({ ...request, command: "sleep 64 & sleep 65", onOutput() {} });
    const signal = new AbortController().signal;
    await mine.exec({ ...request, command: "setsid sleep 66 & true", timeoutMs: 9_000, signal });
    expect(runningWith(TAG, tag).length).toBeGreaterThan(1);
    await mine.close();
    expect(runningWith(TAG, tag)).toEqual([]);
    for (const pid of runningWith(TAG, tag)) process.kill(Number(pid), "SIGKILL");
    expect((await child.ended).exitCode).toBeGreaterThan(128);
    await expect(mine.spawn({ ...request, command: "true", onOutput() {} })).rejects.toThrow(/is closed/);
  });
});
