import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { living, oddSeconds } from "../processes/support.js";
import { errorLine, hermes, hermesJson, json, start, tempFolder, until } from "./hermes.js";

interface Row {
  readonly id: string;
  readonly status: string;
  readonly pid: number;
  readonly command: string;
  readonly exit_code: number | null;
}

/** A runtime in a process of its own that has started these commands in the background and then waits. */
async function runtimeWith(commands: readonly string[]): Promise<{ home: string; runtime: ChildProcess }> {
  const home = tempFolder();
  const call = (id: number, name: string, args: unknown) => ({
    id: `call_${id}`,
    type: "function",
    function: { name, arguments: args },
  });
  const message = {
    tool_calls: [
      ...commands.map((command, index) => call(index, "terminal", { command, background: true })),
      call(99, "sleep", { seconds: 120 }),
    ],
  };
  const runtime = start(["run", "--yolo"], { home });
  runtime.stdin?.end(JSON.stringify(message));
  runtime.stdout?.resume();
  await until(async () => (await rows(home)).length === commands.length, "the processes");
  return { home, runtime };
}

function rows(home: string, ...flags: readonly string[]): Promise<readonly Row[]> {
  return hermesJson<readonly Row[]>(["ps", ...flags], { home });
}

function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("exit", resolve));
}

describe("hermes ps, logs and kill", () => {
  it("work from another process, by a unique beginning of the id", async () => {
    const seconds = oddSeconds();
    const { home, runtime } = await runtimeWith([
      `echo hello; bash -c 'setsid sleep ${seconds}; true'`,
      "seq 1 5; sleep 60",
    ]);
    const [second, first] = await rows(home);
    expect([first, second]).toMatchObject([
      { status: "running" },
      { status: "running", command: "seq 1 5; sleep 60" },
    ]);
    const table = await hermes(["ps"], { home });
    expect(table.stdout).toContain(first?.id);

    const id = second?.id ?? "";
    await until(async () => (await hermes(["logs", id], { home })).stdout !== "", "the log");
    expect((await hermes(["logs", id, "-n", "2"], { home })).stdout).toBe("4\n5\n");
    expect(await hermesJson(["logs", id], { home })).toMatchObject({
      id,
      status: "running",
      output: "1\n2\n3\n4\n5\n",
    });

    const following = hermes(["logs", id, "--follow"], { home });
    expect((await hermes(["kill", id.slice(5)], { home })).stdout).toContain("ended");
    expect(await following).toMatchObject({ code: 0, stdout: "1\n2\n3\n4\n5\n" });

    expect(living(seconds).length).toBeGreaterThan(0);
    expect(json(await hermes(["kill", first?.id ?? "", "--json"], { home }))).toMatchObject([
      { outcome: "ended" },
    ]);
    expect(living(seconds)).toEqual([]);
    expect(await rows(home)).toEqual([]);
    expect(await rows(home, "--all")).toMatchObject([
      { status: "exited", exit_code: -15 },
      { status: "exited", exit_code: -15 },
    ]);
    const again = await hermes(["kill", id], { home });
    expect(again.stdout).toContain("had ended before");
    runtime.kill("SIGTERM");
    await ended(runtime);
  });

  it("of a home that has never had any say so", async () => {
    const home = tempFolder();
    expect(await hermes(["ps"], { home })).toMatchObject({
      code: 0,
      stdout: "No background processes run.\n",
    });
    expect(existsSync(join(home, "state.db"))).toBe(false);
    for (const command of ["logs", "kill"]) {
      const outcome = await hermes([command, "proc_x", "--json"], { home });
      expect(outcome.code).toBe(2);
      expect(errorLine(outcome)).toMatchObject({
        code: "not_found",
        hint: expect.stringContaining("ps --all"),
      });
    }
  });
});

describe.runIf(process.platform === "linux")("a runtime that is killed", () => {
  it("is survived by its rows; nothing it had started stays, and the next start reports it", async () => {
    const seconds = oddSeconds();
    const commands = [
      `sleep ${seconds}`,
      `bash -c 'setsid sleep ${seconds}; true'`,
      `bash -c '(setsid bash -c "sleep ${seconds} & wait" &)'; sleep ${seconds}`,
    ];
    const { home, runtime } = await runtimeWith(commands);
    await until(() => living(seconds).length >= 4, "the trees");
    runtime.kill("SIGKILL");
    await ended(runtime);
    const left = await rows(home);
    expect(left.map(({ status }) => status)).toEqual(["lost", "lost", "lost"]);

    const next = await hermes(["call", "sleep", '{"seconds":0}'], { home });
    expect(next.code).toBe(0);
    for (const { id } of left) expect(next.stderr).toContain(id);
    expect(living(seconds)).toEqual([]);
    expect(await rows(home)).toEqual([]);
    expect((await rows(home, "--all")).map(({ status }) => status)).toEqual(["lost", "lost", "lost"]);
    expect(readdirSync(join(home, "cache", "processes")).filter((name) => name.startsWith("owner-"))).toEqual(
      [],
    );

    const quiet = await hermes(["call", "sleep", '{"seconds":0}'], { home });
    expect(quiet.stderr).not.toContain("was running when its runtime died");
  });
});
