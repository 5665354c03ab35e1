import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { schedulerFor } from "../../src/runtime/scheduler.js";
import { bundleProgram, startServe } from "../server/serve-process.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

let program: Awaited<ReturnType<typeof bundleProgram>>;
beforeAll(async () => {
  program = await bundleProgram();
}, 60_000);
afterAll(() => program.remove());

interface PublicJob {
  readonly job_id: string;
  readonly name: string;
  readonly state: string;
}
interface PublicRun {
  readonly status: string;
  readonly due_at: string;
  readonly summary: string;
  readonly output: string | null;
}

/** Hermes' own folder and one to work in, which its jobs may change. */
interface Places {
  readonly home: string;
  readonly folder: string;
}

const places = (): Places => ({ home: tempDir(), folder: tempDir() });
const variables = (home: string, more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  HOME: home,
  HERMES_HOME: home,
  NO_COLOR: "1",
  ...more,
});

function hermes({ home, folder }: Places, args: readonly string[], more: Record<string, string> = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: folder, env: variables(home, more) };
    execFile(process.execPath, [program.script, "cron", ...args], options, (error, stdout, stderr) =>
      resolve({
        code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1,
        stdout,
        stderr,
      }),
    );
  });
}

async function json<T>(at: Places, args: readonly string[]): Promise<T> {
  const { stdout, stderr } = await hermes(at, [...args, "--json"]);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; !condition(); ) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within 30 s`);
    await delay(25);
  }
}

const linesOf = (file: string) =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];

describe("hermes cron", () => {
  it("adds, lists, shows, runs, pauses, resumes and removes jobs", async () => {
    const at = places();
    expect((await hermes(at, ["list"])).stdout).toBe("No jobs.\n");
    const added = await json<PublicJob>(at, [
      "add",
      "0 9 * * 1-5",
      "--name",
      "greet",
      "--script",
      "echo hello",
    ]);
    expect(added).toMatchObject({ name: "greet", state: "scheduled", workdir: at.folder });
    const call = await json<PublicJob>(at, [
      "add",
      "every 2h",
      "--tool",
      "sleep",
      "seconds=0",
      "--repeat",
      "2",
    ]);
    expect(call).toMatchObject({
      name: "sleep",
      tool_call: { name: "sleep", arguments: { seconds: "0" } },
      repeat: 2,
    });
    const { stdout: listed } = await hermes(at, ["list"]);
    expect(listed).toMatch(/^id\s+name\s+state\s+next run/);
    expect(listed).toContain("At 09:00, Monday through Friday");

    const ran = await hermes(at, ["run", "greet"]);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/greet .*: hello\n/)]);
    const [run] = await json<PublicRun[]>(at, ["runs", "greet"]);
    expect(run).toMatchObject({ status: "ok", summary: "hello" });
    expect(readFileSync(run?.output ?? "", "utf8")).toContain("hello");
    expect((await hermes(at, ["run", "sleep"])).code).toBe(0);
    expect((await hermes(at, ["show", "greet"])).stdout).toMatch(/last run\s+ok/);

    expect(await json(at, ["pause", "greet"])).toMatchObject({ state: "paused", next_run_at: null });
    expect(await json(at, ["resume", added.job_id.slice(0, 8)])).toMatchObject({ state: "scheduled" });
    expect((await hermes(at, ["tick"])).stdout).toBe("Nothing is due.\n");
    expect((await hermes(at, ["remove", "greet"])).code).toBe(0);
    expect(await json<PublicJob[]>(at, ["list", "--all"])).toMatchObject([{ name: "sleep" }]);
  }, 60_000);

  it("says what is wrong, and changes nothing for a command of a model", async () => {
    const at = places();
    const wrong = await hermes(at, ["add", "whenever", "--script", "true"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"every 2h"')]);
    expect((await hermes(at, ["show", "nothing"])).stderr).toContain("hermes cron list --all");
    const model = await hermes(at, ["add", "1h", "--script", "true"], { AI_AGENT: "hermes" });
    expect([model.code, model.stderr]).toEqual([5, expect.stringContaining("by a person")]);
    expect(await json<PublicJob[]>(at, ["list", "--all"])).toEqual([]);
  }, 60_000);
});

describe("several processes on one home", () => {
  it("two servers run each due time once", async () => {
    const at = places();
    const beats = join(at.folder, "beats.txt");
    writeFileSync(join(at.home, "config.yaml"), "cron:\n  tick_seconds: 0.2\n");
    await hermes(at, ["add", "every 1s", "--name", "beat", "--script", "echo beat >> beats.txt"]);
    const servers = [1, 2].map(() =>
      startServe({ script: program.script, home: at.home, args: ["--port", "0"] }),
    );
    await until(() => linesOf(beats).length >= 3, "three beats");
    for (const { child } of servers) child.kill("SIGTERM");
    expect(await Promise.all(servers.map(({ exited }) => exited))).toEqual([0, 0]);
    const runs = (await json<PublicRun[]>(at, ["runs", "beat"])).filter(({ status }) => status !== "missed");
    expect(runs.every(({ status }) => status === "ok")).toBe(true);
    expect(new Set(runs.map(({ due_at }) => due_at)).size).toBe(runs.length);
    expect(linesOf(beats)).toHaveLength(runs.length);
  }, 90_000);

  it("a run whose process was killed is noted as unknown, and not run again", async () => {
    const at = places();
    const trace = join(at.folder, "trace.txt");
    await hermes(at, ["add", "every 1h", "--name", "long", "--script", "echo $$ >> trace.txt; sleep 60"]);
    const child = spawn(process.execPath, [program.script, "cron", "run", "long"], {
      cwd: at.folder,
      env: variables(at.home),
      stdio: "ignore",
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    onTestEnd(() => {
      for (const pid of linesOf(trace).map(Number)) endQuietly(pid);
    });
    await until(() => linesOf(trace).length === 1, "the beginning of the run");
    expect(await json<PublicJob>(at, ["show", "long"])).toMatchObject({ state: "running" });
    child.kill("SIGKILL");
    await exited;

    const { runtime, logged } = await testRuntime([], { builtins: true, home: at.home });
    const { scheduler, stop } = await schedulerFor(runtime);
    onTestEnd(() => stop({ finishMs: 0 }));
    // A process that cannot be seen from here might still be at it until its lease has run out.
    expect(await scheduler.tick()).toEqual([]);
    expect(await json<PublicRun[]>(at, ["runs", "long"])).toMatchObject([{ status: "running" }]);
    (await runtime.store()).db.exec("UPDATE cron_jobs SET lease_until = 1");
    expect(await scheduler.tick()).toEqual([]);
    expect(await json<PublicRun[]>(at, ["runs", "long"])).toMatchObject([
      { status: "unknown", summary: expect.stringContaining("not run again") },
    ]);
    expect(await json<PublicJob>(at, ["show", "long"])).toMatchObject({ state: "scheduled" });
    expect(logged.join("\n")).toContain("long");
    expect(linesOf(trace)).toHaveLength(1);
  }, 90_000);
});

function endQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It had ended.
  }
}
