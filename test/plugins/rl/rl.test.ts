import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readMetrics } from "../../../src/plugins/rl/metrics.js";
import { plainText } from "../../../src/tool/marked-text.js";
import { onTestEnd, tempDir, testRuntime } from "../../support/runtime.js";

const TRAINER = join(dirname(fileURLToPath(import.meta.url)), "toy-trainer.mjs");
const SUMS = `description: Sums from school
config: { steps: 3, step_ms: 5, stubborn: false, helper: false, fails: false, note: short }
locked: { tokenizer_name: Qwen/Qwen3-8B, lora_rank: 32 }
`;

async function gym(options: { readonly command?: string; readonly home?: string } = {}) {
  const folder = tempDir();
  const home = options.home ?? tempDir();
  writeFileSync(join(folder, "sums.yaml"), SUMS);
  writeFileSync(join(folder, "games.json"), '{"name":"chess","description":"A game","config":{"depth":2}}');
  writeFileSync(join(folder, "broken.yaml"), "config: [1, 2]\n");
  writeFileSync(join(folder, "README.md"), "not an environment");
  const open = async () => {
    const { runtime } = await testRuntime([], {
      builtins: true,
      home,
      env: { PATH: process.env.PATH, HOME: home, WANDB_API_KEY: "wandb-key-12345678", OTHER_API_KEY: "x" },
      flags: {
        "rl.environments_folder": folder,
        "rl.command": options.command ?? `${process.execPath} ${TRAINER}`,
      },
    });
    const session = await runtime.openSession();
    return (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      session.call({ name: `rl_${name}`, arguments: args }, signal === undefined ? {} : { signal });
  };
  const call = await open();
  // Nothing may go on when a test has failed half-way.
  onTestEnd(async () => void (await call("stop_training", { run_id: "latest" })));
  /** Selects and edits, then starts; the id of the run. */
  const train = async (config: Record<string, unknown> = {}) => {
    expect((await call("select_environment", { name: "sums" })).error).toBeUndefined();
    for (const [field, value] of Object.entries(config))
      expect((await call("edit_config", { field, value })).error).toBeUndefined();
    const started = await call("start_training");
    expect(started.error).toBeUndefined();
    return (started.structured as { run_id: string }).run_id;
  };
  const runFolder = (id: string) => join(home, "plugin-data", "rl", "runs", id);
  const status = async (run_id: string) => {
    const { runs } = (await call("list_runs")).structured as { runs: { run_id: string; status: string }[] };
    return runs.find((run) => run.run_id === run_id)?.status;
  };
  return { folder, home, call, open, train, runFolder, status };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended and that nobody has collected yet does nothing any more.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

describe("configuration", () => {
  it("lists environments of both kinds of files, and names the broken ones", async () => {
    const { call } = await gym();
    const listed = (await call("list_environments")).structured;
    expect(listed).toMatchObject({
      count: 2,
      environments: [
        { name: "chess", description: "A game" },
        { name: "sums", description: "Sums from school" },
      ],
      problems: [expect.stringMatching(/^broken\.yaml: .*config/)],
    });
    expect(listed).not.toHaveProperty("selected", expect.anything());
    await call("select_environment", { name: "chess" });
    expect((await call("list_environments")).structured).toMatchObject({ selected: "chess" });
  });

  it("edits what may be edited, with its type, and is still there in another session", async () => {
    const { call, open } = await gym();
    await call("select_environment", { name: "sums" });
    expect((await call("edit_config", { field: "steps", value: "12" })).structured).toMatchObject({
      before: 3,
      value: 12,
    });
    await call("edit_config", { field: "note", value: "12" });
    const again = await open();
    expect((await again("get_current_config")).structured).toMatchObject({
      environment: "sums",
      config: { steps: 12, step_ms: 5, note: "12" },
      changed: ["steps", "note"],
      locked: { tokenizer_name: "Qwen/Qwen3-8B", lora_rank: 32 },
    });
    await again("select_environment", { name: "sums" });
    expect((await again("get_current_config")).structured).toMatchObject({
      config: { steps: 3 },
      changed: [],
    });
  });

  it("locked fields stay as they are, also when a call had changed them before they were locked", async () => {
    const { call, folder } = await gym();
    await call("select_environment", { name: "sums" });
    const locked = await call("edit_config", { field: "lora_rank", value: 64 });
    expect(locked.error).toMatchObject({ code: "denied", hint: expect.stringContaining("steps") });
    await call("edit_config", { field: "steps", value: 99 });
    writeFileSync(join(folder, "sums.yaml"), "config: { step_ms: 5 }\nlocked: { steps: 1 }\n");
    expect((await call("get_current_config")).structured).toMatchObject({
      changed: [],
      locked: { steps: 1 },
    });
    const run = await call("start_training");
    expect(run.structured).toMatchObject({ config: { steps: 1 } });
  });

  it("says what is wrong: another type, an unknown field, nothing selected, no such environment", async () => {
    const { call } = await gym();
    expect((await call("get_current_config")).error?.hint).toContain("rl_select_environment");
    expect((await call("select_environment", { name: "summs" })).error?.hint).toContain('"sums"');
    await call("select_environment", { name: "sums" });
    expect((await call("edit_config", { field: "steps", value: "many" })).error?.message).toContain("number");
    expect((await call("edit_config", { field: "stepps", value: 1 })).error?.hint).toContain('"steps"');
    expect((await call("edit_config", { field: "__proto__", value: 1 })).error?.code).toBe(
      "invalid_arguments",
    );
  });

  it("without a folder and a command, looking works and training says what is missing", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const tools = (await runtime.listTools()).filter(({ toolset }) => toolset === "rl");
    expect(tools).toHaveLength(10);
    const missing = tools.filter(({ available }) => !available);
    expect(missing.map(({ name }) => name).sort()).toEqual(["rl_start_training", "rl_test_inference"]);
    for (const tool of missing)
      expect(tool).toMatchObject({
        reason: "rl.command is not set",
        fix: expect.stringContaining("hermes config set rl.command"),
      });
    const session = await runtime.openSession();
    const listed = await session.call({ name: "rl_list_environments", arguments: {} });
    expect(listed.structured).toMatchObject({
      count: 0,
      note: expect.stringContaining("rl.environments_folder"),
    });
  });
});

describe("a training", () => {
  it("runs to its end by itself; its metrics, files and log are there", async () => {
    const { call, train, status, runFolder } = await gym();
    const run_id = await train({ steps: 4 });
    await expect.poll(() => status(run_id), { timeout: 10_000 }).toBe("completed");
    expect((await call("get_results", { run_id })).structured).toMatchObject({
      status: "completed",
      exit_code: 0,
      steps: 4,
      final_metrics: { step: 4, reward: 1 },
      history: [{ step: 1 }, { step: 2 }, { step: 3 }, { step: 4 }],
      config: { steps: 4, lora_rank: 32 },
      files: [{ path: "weights.bin", bytes: 16 }],
      log_tail: expect.stringContaining("training sums in mode train"),
    });
    expect((await call("check_status", { run_id: "latest" })).structured).toMatchObject({
      run_id,
      status: "completed",
    });
    const { human } = await call("get_results", { run_id });
    const shown = plainText(human);
    expect(shown).toMatch(/step +reward/);
    expect(shown).toMatch(/weights\.bin +16/);
    expect(shown).not.toContain(`{"`);
    // It got the key it needs; what people and models read of it does not show it.
    expect(readFileSync(join(runFolder(run_id), "trainer.log"), "utf8")).toContain("wandb-key-12345678");
    expect(JSON.stringify(await call("get_results", { run_id }))).not.toContain("wandb-key-12345678");
  });

  it("that fails is told with its exit code and its last words", async () => {
    const { call, train, status } = await gym();
    const run_id = await train({ fails: true, steps: 1, step_ms: 1_000 });
    await expect.poll(() => status(run_id), { timeout: 10_000 }).toBe("failed");
    expect((await call("get_results", { run_id })).structured).toMatchObject({
      exit_code: 7,
      log_tail: expect.stringContaining("out of memory"),
    });
  });

  it("whose command does not work is told at once", async () => {
    const { call } = await gym({ command: "pyhton-that-is-not-there train.py" });
    await call("select_environment", { name: "sums" });
    const started = await call("start_training");
    expect(started.error).toMatchObject({
      message: expect.stringContaining("exit code 127"),
      hint: expect.stringContaining("pyhton-that-is-not-there"),
    });
    expect((await call("list_runs")).structured).toMatchObject({ runs: [{ status: "failed" }] });
  });

  it("is looked at once in 30 minutes, and the second look says when the next one is", async () => {
    const { call, train, runFolder } = await gym();
    const run_id = await train({ steps: 1000, step_ms: 20 });
    const metrics = join(runFolder(run_id), "metrics.jsonl");
    await expect.poll(() => existsSync(metrics), { timeout: 10_000 }).toBe(true);
    expect((await call("check_status", { run_id })).structured).toMatchObject({
      status: "running",
      metrics: { reward: expect.any(Number) },
    });
    const soon = (await call("check_status", { run_id })).structured;
    expect(soon).toMatchObject({
      status: "running",
      rate_limited: true,
      message: expect.stringContaining("in 30 minutes"),
    });
    expect(soon).not.toHaveProperty("metrics");
    expect((await call("get_results", { run_id })).error?.message).toContain("still running");
    writeFileSync(join(runFolder(run_id), "looked.json"), JSON.stringify({ at: Date.now() - 31 * 60_000 }));
    expect((await call("check_status", { run_id })).structured).not.toHaveProperty("rate_limited", true);
    expect((await call("stop_training", { run_id })).structured).toMatchObject({ stopped: true });
    // How it ended is told at once.
    expect((await call("check_status", { run_id })).structured).toMatchObject({ status: "stopped" });
  });

  it("goes on without the session that started it, and another one stops it with all it has started", async () => {
    const { open, train, runFolder } = await gym();
    const run_id = await train({ steps: 10_000, step_ms: 20, helper: true });
    const pidFile = join(runFolder(run_id), "output", "helper.pid");
    await expect.poll(() => existsSync(pidFile), { timeout: 10_000 }).toBe(true);
    const helper = Number(readFileSync(pidFile, "utf8"));
    const pid = leaderOf(runFolder(run_id));
    expect([isThere(pid), isThere(helper)]).toEqual([true, true]);
    const another = await open();
    expect((await another("list_runs")).structured).toMatchObject({ runs: [{ run_id, status: "running" }] });
    expect((await another("stop_training", { run_id })).structured).toMatchObject({
      stopped: true,
      status: "stopped",
    });
    await expect.poll(() => [isThere(pid), isThere(helper)]).toEqual([false, false]);
    expect((await another("stop_training", { run_id })).structured).toMatchObject({ stopped: false });
  });

  it("that does not listen is ended by force when the call is over", async () => {
    const { call, train, runFolder } = await gym();
    const run_id = await train({ steps: 10_000, step_ms: 20, stubborn: true });
    const log = join(runFolder(run_id), "metrics.jsonl");
    await expect.poll(() => existsSync(log), { timeout: 10_000 }).toBe(true);
    const pid = leaderOf(runFolder(run_id));
    await call("stop_training", { run_id }, AbortSignal.timeout(300));
    await expect.poll(() => groupIsThere(pid), { timeout: 5_000 }).toBe(false);
  });

  it("whose number another process has got since is not touched", async () => {
    const { call, train, status, runFolder } = await gym();
    const run_id = await train({ steps: 1 });
    await expect.poll(() => status(run_id), { timeout: 10_000 }).toBe("completed");
    // As if the machine had been restarted half-way: nobody wrote how it ended, and another one has its number.
    const other = spawn("sleep", ["30"], { detached: true, stdio: "ignore" });
    onTestEnd(() => void other.kill("SIGKILL"));
    const record = join(runFolder(run_id), "run.json");
    const run = JSON.parse(readFileSync(record, "utf8")) as { tree: Record<string, unknown> };
    writeFileSync(record, JSON.stringify({ ...run, tree: { ...run.tree, pid: other.pid } }));
    rmSync(join(runFolder(run_id), "exit_code"));
    expect(await status(run_id)).toBe("lost");
    expect((await call("stop_training", { run_id })).structured).toMatchObject({
      stopped: false,
      status: "lost",
    });
    expect(isThere(other.pid ?? 0)).toBe(true);
  });

  it.each(["../../x", "rl_../x", "RL_1", ""])("%j is no run", async (run_id) => {
    const { call } = await gym();
    expect((await call("get_results", { run_id })).error?.code).toBe("invalid_arguments");
  });
});

describe("a test of the environment", () => {
  it("takes the steps that are wanted and trains nothing", async () => {
    const { call } = await gym();
    await call("select_environment", { name: "sums" });
    expect((await call("test_inference", { num_steps: 2 })).structured).toMatchObject({
      environment: "sums",
      steps: 2,
      metrics: { step: 2, reward: 1 },
      log_tail: expect.stringContaining("in mode test"),
    });
    expect((await call("list_runs")).structured).toMatchObject({ count: 0 });
  });

  it("that fails shows why, one that is cancelled leaves nothing running", async () => {
    const pidFile = join(tempDir(), "pid");
    const { call } = await gym({ command: `echo boom; sleep 30 & echo $! > ${pidFile}; exit 4 #` });
    await call("select_environment", { name: "sums" });
    const failed = await call("test_inference");
    expect(failed.error).toMatchObject({
      message: expect.stringContaining("4"),
      hint: expect.stringContaining("boom"),
    });
    expect(isThere(Number(readFileSync(pidFile, "utf8")))).toBe(false);
    const slow = await gym();
    await slow.call("select_environment", { name: "sums" });
    await slow.call("edit_config", { field: "step_ms", value: 20_000 });
    const started = Date.now();
    const cancelled = await slow.call("test_inference", {}, AbortSignal.timeout(300));
    expect(cancelled.error?.code).toBe("cancelled");
    expect(Date.now() - started).toBeLessThan(5_000);
  });
});

it("metrics of a long run are read in bounded memory, spread over the whole of it", async () => {
  const file = join(tempDir(), "m.jsonl");
  const lines = Array.from({ length: 5_000 }, (_one, step) => JSON.stringify({ step }));
  writeFileSync(file, `${lines.join("\n")}\nnot json\n{"step":5000}\n{"half`);
  const { lines: count, latest, history, broken } = await readMetrics(file, 20);
  expect([count, latest, broken]).toEqual([5_001, { step: 5_000 }, 2]);
  expect(history.length).toBeLessThanOrEqual(21);
  expect(history[0]).toEqual({ step: 0 });
  expect(history.at(-1)).toEqual({ step: 5_000 });
  const steps = history.map(({ step }) => Number(step));
  expect([...steps].sort((a, b) => a - b)).toEqual(steps);
});

function leaderOf(folder: string): number {
  const { tree } = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as { tree: { pid: number } };
  return tree.pid;
}

function groupIsThere(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
