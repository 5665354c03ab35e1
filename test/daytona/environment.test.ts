// @needs bwrap
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDaytonaEnvironment, type DaytonaOptions } from "../../src/env/daytona/daytona.js";
import type { Environment, ExecResult } from "../../src/env/environment.js";
import { type DaytonaServer, startDaytonaServer } from "../support/daytona-server/server.js";

describe("the Daytona environment", () => {
  let server: DaytonaServer;
  const open: Environment[] = [];

  beforeAll(async () => {
    server = await startDaytonaServer();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((environment) => environment.close()));
    expect(server.sandboxes().filter(({ state }) => state === "started")).toEqual([]);
  });
  afterAll(() => server.stop());

  async function start(options: Partial<DaytonaOptions> = {}): Promise<Environment> {
    const environment = await createDaytonaEnvironment({
      task: "task",
      apiKey: server.apiKey,
      apiUrl: server.url,
      ...options,
    });
    open.push(environment);
    return environment;
  }

  const sandboxOf = (task: string) =>
    server.sandboxes().filter(({ request }) => request.labels?.["hermes-task"] === task);

  test("closing stops the sandbox, and the next opening starts it with its files", async () => {
    const first = await start({ task: "kept" });
    await run(first, "echo one > file");
    await first.close();
    const [stopped] = sandboxOf("kept");
    expect(stopped).toMatchObject({ name: "hermes-kept", state: "stopped" });
    expect(readdirSync(join(stopped?.folder ?? "", "tmp"))).toEqual([]);

    const second = await start({ task: "kept" });
    expect((await run(second, "cat file")).output).toBe("one\n");
    expect((await second.describe()).facts["started from"]).toBe("its last stop");
    const other = await start({ task: "Odd/Task name" });
    expect((await run(other, "ls")).output).toBe("");
    expect(sandboxOf("Odd/Task name")[0]?.name).toMatch(/^hermes-odd-task-name-[0-9a-f]{8}$/);
  });

  test("without persistence the sandbox is deleted", async () => {
    const environment = await start({ task: "fleeting", persistent: false });
    await run(environment, "echo one > file; sleep 100 &");
    expect(sandboxOf("fleeting")).toHaveLength(1);
    await environment.close();
    expect(sandboxOf("fleeting")).toEqual([]);
  });

  test("image, processors, memory and idle stop are passed on, and the disk has its limit", async () => {
    const environment = await start({
      task: "limits",
      image: "debian:12",
      cpu: 2,
      memoryMb: 5120,
      diskMb: 51_200,
      idleStopSeconds: 90,
      target: "eu",
    });
    expect(sandboxOf("limits")[0]?.request).toMatchObject({
      buildInfo: { dockerfileContent: "FROM debian:12\n" },
      ...{ cpu: 2, memory: 5, disk: 10, autoStopInterval: 2, target: "eu" },
    });
    expect((await environment.describe()).facts.note).toMatch(/10 GB/);
    const plain = await start({ task: "plain" });
    await plain.close();
    expect(sandboxOf("plain")[0]?.request.autoStopInterval).toBe(0);
  });

  test("another sandbox can start from a snapshot", async () => {
    const first = await start({ task: "source" });
    await run(first, "echo one > file");
    const snapshot = await first.snapshot?.();
    const second = await start({ task: "copy", snapshot: snapshot?.id ?? "" });
    expect((await run(second, "cat file")).output).toBe("one\n");
    await expect(start({ task: "nothing", snapshot: "no-such" })).rejects.toThrow(/no-such not found/);
  });

  test("a wrong key is an error that names the variable", async () => {
    await expect(start({ apiKey: "dtn_other" })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/Unauthorized/),
      hint: expect.stringMatching(/DAYTONA_API_KEY/),
    });
  });

  test("a sandbox that somebody else made under this name is left alone", async () => {
    const request = { name: "hermes-foreign", labels: {} };
    await fetch(`${server.url}/sandbox`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}` },
      body: JSON.stringify(request),
    });
    await expect(start({ task: "foreign" })).rejects.toThrow(/did not make/);
    await server.stopAll();
  });

  test("a sandbox that is stopped in the middle of a command is an error, and starts again with its files", async () => {
    const environment = await start({ task: "stopped" });
    await run(environment, "echo one > file");
    const running = run(environment, "sleep 30");
    running.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 700));
    await server.stopAll();
    await expect(running).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/stopped/),
    });
    expect((await run(environment, "cat file; pgrep -f 'sleep [36]0' || echo none")).output).toBe(
      "one\nnone\n",
    );
  });

  test("a sandbox that was deleted is told of once", async () => {
    const environment = await start({ task: "deleted" });
    await run(environment, "echo one > file");
    await server.deleteAll();
    await expect(run(environment, "cat file")).rejects.toThrow(/is gone, and all its files with it/);
    expect((await run(environment, "ls")).output).toBe("");
  });

  test("a connection cut for a moment loses nothing", async () => {
    const environment = await start({ task: "moment" });
    const running = run(environment, "for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done");
    await new Promise((resolve) => setTimeout(resolve, 600));
    server.gate.cut({ forMs: 700 });
    expect(await running).toMatchObject({ output: "1\n2\n3\n4\n5\n6\n", exitCode: 0 });
  });

  test("a connection that stays cut is an error within 15 seconds, and the next command works", async () => {
    const environment = await start({ task: "cut" });
    await run(environment, "echo one > file");
    const running = run(environment, "sleep 60");
    running.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 700));
    const cut = Date.now();
    server.gate.cut({ forMs: 7_500 });
    await expect(running).rejects.toMatchObject({ code: "unavailable" });
    expect(Date.now() - cut).toBeLessThan(15_000);
    expect((await run(environment, "cat file; pgrep -f 'sleep [36]0' || echo none")).output).toBe(
      "one\nnone\n",
    );
  }, 40_000);
});

function run(environment: Environment, command: string): Promise<ExecResult> {
  return environment.exec({
    command,
    cwd: "/root",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
}
