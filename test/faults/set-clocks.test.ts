// @needs gcc /usr/include/stdio.h
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { hermes, start } from "../cli/hermes.js";
import { quantile, report, seconds } from "./figures.js";
import { makeFaulty } from "./shim/faulty.js";
import { FULL, faultHome, startRuntime } from "./support.js";

const ROUNDS = FULL ? 5 : 1;
const HOUR_S = 3_600;
const LIMIT_S = 2;

test("a clock that is set an hour back or forth leaves time limits alone", async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const faulty = makeFaulty(home);
  onTestFinished(() => faulty.remove());
  const runtime = await startRuntime(home, { script: "./children/calls.mjs", env: faulty.env });
  onTestFinished(() => runtime.kill());
  await runtime.answer();
  const wrong: string[] = [];
  const limits: number[] = [];
  /** The same with nobody at the clock: how busy the machine is. */
  const usual: number[] = [];
  const timed = async (args: Record<string, unknown>, step: number) => {
    const startedAt = performance.now();
    runtime.send({ name: "terminal", args });
    await pause(500);
    faulty.stepClock(step);
    const answer = JSON.stringify(await runtime.answer());
    return { tookMs: performance.now() - startedAt, answer };
  };
  let trials = 0;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const step of [HOUR_S, -HOUR_S, 1, -1, 0]) {
      trials += 2;
      const cut = await timed({ command: "sleep 30", timeout: LIMIT_S }, step);
      (step === 0 ? usual : limits).push(cut.tookMs);
      if (!/124|timed out/i.test(cut.answer)) wrong.push(`${step}: ${cut.answer}`);
      const whole = await timed({ command: "sleep 1.2; echo whole", timeout: 20 }, -step);
      if (!whole.answer.includes("whole")) wrong.push(`${step}: ${whole.answer}`);
    }
  await runtime.close();
  if (wrong.length > 0) console.error(wrong.join("\n"));
  report({
    id: "N2",
    what: "clock set by ± 1 h and ± 1 s while a command runs",
    trials,
    seen: `${wrong.length} cut short or not stopped; a limit of ${LIMIT_S} s ended after ${seconds(Math.min(...limits))} to ${seconds(Math.max(...limits))} (median ${seconds(quantile(limits, 0.5))}; with the clock left alone ${seconds(quantile(usual, 0.5))})`,
    goal: "time limits unaffected",
    // A clock that counted would have made it nothing, or an hour.
    pass: wrong.length === 0 && Math.min(...limits) >= LIMIT_S * 1_000 && Math.max(...limits) < 30_000,
  });
}, 180_000);

interface Story {
  readonly what: string;
  readonly schedule: string;
  /** When the job is made. */
  readonly from: string;
  /** The clock is set to each of these in turn; how often the job has run a few seconds later. */
  readonly steps: readonly (readonly [at: string, runs: number])[];
}

const STORIES: readonly Story[] = [
  {
    what: "an hour back and forth",
    schedule: "every 1h",
    from: "2026-06-01T10:00:00Z",
    steps: [
      ["2026-06-01T11:00:01Z", 1],
      ["2026-06-01T10:00:30Z", 1],
      ["2026-06-01T11:00:01Z", 1],
      ["2026-06-01T12:00:05Z", 2],
    ],
  },
  {
    what: "the end of summer time, when 2:30 comes twice",
    schedule: "30 2 * * *",
    from: "2026-10-25T00:20:00Z",
    steps: [
      ["2026-10-25T00:30:01Z", 1],
      ["2026-10-25T01:30:01Z", 1],
      ["2026-10-26T01:30:01Z", 2],
    ],
  },
  {
    what: "the beginning of summer time, when there is no 2:30",
    schedule: "30 2 * * *",
    from: "2026-03-28T01:20:00Z",
    steps: [
      ["2026-03-28T01:30:01Z", 1],
      ["2026-03-30T00:30:01Z", 2],
    ],
  },
  {
    what: "a second that is there twice",
    schedule: "0 1 * * *",
    from: "2026-12-31T23:50:00Z",
    steps: [
      ["2027-01-01T00:00:00Z", 1],
      ["2026-12-31T23:59:59Z", 1],
      ["2027-01-01T00:00:01Z", 1],
    ],
  },
];

test("a clock that is set, summer time and leap seconds run no job twice", async () => {
  const wrong: string[] = [];
  for (const story of STORIES) wrong.push(...(await play(story)));
  if (wrong.length > 0) console.error(wrong.join("\n"));
  report({
    id: "N2",
    what: `schedules: ${STORIES.map(({ what }) => what).join("; ")}`,
    trials: STORIES.reduce((sum, { steps }) => sum + steps.length, 0),
    seen: `${wrong.length} runs too many or missing`,
    goal: "schedules not doubled",
    pass: wrong.length === 0,
  });
}, 300_000);

async function play({ what, schedule, from, steps }: Story): Promise<readonly string[]> {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  writeFileSync(
    join(home, "config.yaml"),
    "approvals:\n  mode: off\ncron:\n  tick_seconds: 0.2\n  timezone: Europe/Berlin\n",
  );
  const faulty = makeFaulty(home);
  onTestFinished(() => faulty.remove());
  const options = { home, cwd: join(home, "work"), env: faulty.env };
  const setTo = (at: string) => faulty.stepClock(Math.round((Date.parse(at) - Date.now()) / 1_000));
  setTo(from);
  const script = "echo ran >> runs.txt";
  const added = await hermes(["cron", "add", schedule, "--script", script, "--name", "counted"], options);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  const server = start(["serve", "--port", "0"], options);
  const ended = new Promise((resolve) => server.once("exit", resolve));
  await new Promise((resolve) => server.stdout?.once("data", resolve));
  const runs = () =>
    existsSync(join(home, "work", "runs.txt"))
      ? readFileSync(join(home, "work", "runs.txt"), "utf8")
          .trim()
          .split("\n").length
      : 0;
  const wrong: string[] = [];
  for (const [at, expected] of steps) {
    setTo(at);
    for (let left = 100; left > 0 && runs() < expected; left -= 1) await pause(100);
    // A second run would come now.
    await pause(1_500);
    if (runs() !== expected) wrong.push(`${what}, at ${at}: ${runs()} runs and not ${expected}`);
  }
  server.kill("SIGTERM");
  await ended;
  return wrong;
}
