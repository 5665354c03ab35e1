// @needs bwrap
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Environment, ExecResult } from "../../src/env/environment.js";
import { createModalEnvironment, type ModalOptions } from "../../src/env/modal/modal.js";
import { type ModalServer, startModalServer } from "../support/modal-server/server.js";

describe("the Modal environment", () => {
  let server: ModalServer;
  let stateDir: string;
  const open: Environment[] = [];

  beforeAll(async () => {
    server = await startModalServer();
    stateDir = await mkdtemp(join(tmpdir(), "modal-state-"));
  });
  afterEach(async () => {
    await Promise.allSettled(open.splice(0).map((environment) => environment.close()));
    expect(server.running()).toEqual([]);
  });
  afterAll(async () => {
    await server.stop();
    await rm(stateDir, { recursive: true });
  });

  async function start(options: Partial<ModalOptions> = {}): Promise<Environment> {
    const environment = await createModalEnvironment({
      task: "task",
      stateDir,
      serverUrl: server.url,
      tokenId: server.tokenId,
      tokenSecret: server.tokenSecret,
      ...options,
    });
    open.push(environment);
    return environment;
  }

  const snapshotFile = () => join(stateDir, "modal_snapshots.json");

  test("files come back from the snapshot of the last closing, and only the newest snapshot stays", async () => {
    const first = await start({ task: "kept" });
    await run(first, "echo one > /root/file");
    await first.close();
    expect(server.running()).toEqual([]);
    const images = server.images().length;

    const second = await start({ task: "kept" });
    expect((await run(second, "cat /root/file")).output).toBe("one\n");
    expect((await second.describe()).facts["started from"]).toMatch(/^snapshot im-/);
    await run(second, "echo two >> file");
    await second.close();
    expect(server.images()).toHaveLength(images);

    const third = await start({ task: "kept" });
    expect((await run(third, "cat /root/file")).output).toBe("one\ntwo\n");
    const other = await start({ task: "other" });
    expect((await run(other, "ls /root")).output).toBe("");
  });

  test("without persistence nothing is kept", async () => {
    const first = await start({ task: "fleeting", persistent: false });
    await run(first, "echo one > /root/file");
    await first.close();
    const second = await start({ task: "fleeting", persistent: false });
    expect((await run(second, "ls /root")).output).toBe("");
    expect(JSON.parse(await readFile(snapshotFile(), "utf8")).fleeting).toBeUndefined();
  });

  test("a snapshot that is gone leads to the base image, with a note", async () => {
    const first = await start({ task: "stale" });
    await run(first, "echo one > /root/file");
    await first.close();
    const { imageId } = JSON.parse(await readFile(snapshotFile(), "utf8")).stale;
    await server.deleteImage(imageId);
    const second = await start({ task: "stale" });
    expect((await run(second, "ls /root")).output).toBe("");
    expect((await second.describe()).facts.note).toMatch(`snapshot ${imageId} of `);
  });

  test("a snapshot file that nobody can read is not in the way", async () => {
    await writeFile(snapshotFile(), "{ half");
    const environment = await start({ task: "half" });
    expect((await run(environment, "echo here")).output).toBe("here\n");
  });

  test("a snapshot can be taken at any time, and processors, memory and time limits are passed on", async () => {
    const environment = await start({ task: "limits", cpu: 2, memoryMb: 512, idleStopSeconds: 40 });
    const [sandbox] = server.running();
    expect(sandbox).toMatchObject({ milliCpu: 2000, memoryMb: 512, timeoutSecs: 3600, idleTimeoutSecs: 100 });
    expect(sandbox?.tags).toEqual({ hermes: "1", "hermes-task": "limits" });
    expect(await environment.snapshot?.()).toEqual({ id: expect.stringMatching(/^im-/) });
  });

  test("an idle sandbox is stopped, and the next command finds its files again", async () => {
    const environment = await start({ task: "idle", idleStopSeconds: 1 });
    await run(environment, "echo one > /root/file");
    await until(() => server.running().length === 0);
    expect((await run(environment, "cat /root/file")).output).toBe("one\n");
  });

  test("a wrong token is an error that names the variables", async () => {
    await expect(start({ tokenSecret: "as-other" })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/Token validation failed/),
      hint: expect.stringMatching(/MODAL_TOKEN_ID/),
    });
  });

  test("an image that cannot be built is an error", async () => {
    server.faults.failBuild = true;
    try {
      await expect(start({ image: "no/such" })).rejects.toThrow(/no such image/);
    } finally {
      server.faults.failBuild = false;
    }
  });

  test("a sandbox that ends in the middle of a command is an error, and its files are not lost silently", async () => {
    const environment = await start({ task: "ended" });
    await run(environment, "echo one > /root/file");
    const running = run(environment, "echo begun; sleep 30");
    running.catch(() => {});
    await until(async () => (await run(environment, "pgrep -c sleep || true")).output.trim() !== "1");
    await server.terminateAll();
    await expect(running).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/is gone/),
    });
    await expect(run(environment, "ls /root")).rejects.toThrow(/All its files are gone/);
    expect((await run(environment, "ls /root")).output).toBe("");
  });

  test("a sandbox that ended between two commands is told of once", async () => {
    const environment = await start({ task: "between" });
    await run(environment, "echo one > /root/file");
    await environment.snapshot?.();
    await run(environment, "echo two > /root/file");
    await server.terminateAll();
    await expect(run(environment, "cat /root/file")).rejects.toThrow(
      /changed since the snapshot of .* are gone/,
    );
    expect((await run(environment, "cat /root/file")).output).toBe("one\n");
  });

  test("a failed snapshot leaves the sandbox with the files alive, and says so", async () => {
    const environment = await start({ task: "unsaved" });
    server.faults.failSnapshot = true;
    try {
      await expect(environment.close()).rejects.toThrow(/the snapshot failed.*only in sb-/s);
      expect(server.running()).toHaveLength(1);
    } finally {
      server.faults.failSnapshot = false;
      await server.terminateAll();
    }
  });

  test("a connection that stays cut is an error within 15 seconds, and the next command works", async () => {
    const environment = await start({ task: "cut" });
    await run(environment, "echo one > /root/file");
    const running = run(environment, "sleep 60");
    running.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 500));
    const cut = Date.now();
    server.gate.cut({ forMs: 12_000 });
    await expect(running).rejects.toMatchObject({ code: "unavailable" });
    expect(Date.now() - cut).toBeLessThan(15_000);
    // Only the sandbox's own `sleep infinity` is left.
    expect((await run(environment, "cat /root/file; pgrep sleep")).output).toMatch(/^one\n\d+\n$/);
  }, 60_000);
});

function run(environment: Environment, command: string): Promise<ExecResult> {
  return environment.exec({
    command,
    cwd: "/root",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error("it did not happen within 20 s");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
