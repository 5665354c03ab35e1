import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { quantile, report, seconds } from "./figures.js";
import { FULL, faultHome, type RuntimeProcess, startRuntime } from "./support.js";

const KILLS = FULL ? 1_000 : 10;
/** Homes that are worked on side by side. */
const LINES = 2;
/** The figure is meant for a machine that does nothing else; beside other tests only a stall counts. */
const READY_P95_MS = FULL ? 2_000 : 10_000;

interface Left {
  readonly rows: readonly { readonly id: string; readonly status: string; readonly damaged?: boolean }[];
  readonly jobs: readonly string[];
  readonly tally: readonly string[];
}

/** What one process told of before it was killed. */
interface Told {
  readonly session: string | undefined;
  readonly tried: ReadonlySet<string>;
  readonly done: ReadonlySet<string>;
}

const seen = { kills: 0, acknowledged: 0, lost: 0, invented: 0, unknown: 0, twice: 0, unreadable: 0 };
const ready: number[] = [];

/**
 * Log-uniform between 1 ms and 2 s: as many kills in the first few milliseconds as in the last hundreds. One moment of each
 * part of that, also where there are few, so that some of them come late enough to have acknowledged something.
 */
const delays = Array.from(
  { length: KILLS + LINES },
  (_, part) => 2_000 ** ((part + Math.random()) / (KILLS + LINES)),
);
const takeDelay = () => delays.splice(Math.floor(Math.random() * delays.length), 1)[0] ?? 0;

test(
  `a runtime killed ${KILLS} times while it keeps state loses nothing it acknowledged`,
  async () => {
    let remaining = KILLS;
    const line = async (): Promise<void> => {
      const { home, remove } = faultHome();
      onTestFinished(remove);
      let before: Told = { session: undefined, tried: new Set(), done: new Set() };
      for (let round = 0; remaining > 0; round += 1) {
        remaining -= 1;
        before = await oneLife(home, { round, before, diesEarly: round % 5 === 4 });
      }
      await oneLife(home, { round: KILLS, before, diesEarly: false });
    };
    await Promise.all(Array.from({ length: LINES }, line));
    const { kills, acknowledged, lost, invented, unknown, twice, unreadable } = seen;
    const p95 = quantile(ready, 0.95);
    report({
      id: "J1",
      what: "kill -9 of the runtime while it writes journal, files and jobs",
      trials: kills,
      seen: `${lost} of ${acknowledged.toLocaleString("en")} acknowledged items lost, ${invented} invented, ${unreadable} unreadable files, ready again in ${seconds(p95)} (p95)`,
      goal: "0 lost, 0 invented, 0 unreadable; ready in ≤ 2 s (p95)",
      pass: lost + invented + unreadable === 0 && p95 <= READY_P95_MS && acknowledged > KILLS,
    });
    report({
      id: "J1",
      what: "the calls that ran when it was killed",
      trials: kills,
      seen: `${unknown} told as unknown, ${twice} run twice`,
      goal: "each told as unknown, 0 run twice",
      pass: twice === 0,
    });
  },
  KILLS * 6_000 + 60_000,
);

async function oneLife(
  home: string,
  life: { readonly round: number; readonly before: Told; readonly diesEarly: boolean },
): Promise<Told> {
  const { round, before, diesEarly } = life;
  const startedAt = performance.now();
  const runtime = await startRuntime(home, {
    script: "./children/state.mjs",
    // One that dies early only starts: nobody would hear what it tells.
    args: { round, before: before.session, waits: true, ...(diesEarly && { most: 0, keeps: true }) },
  });
  onTestFinished(() => runtime.kill());
  if (diesEarly) {
    await pause(takeDelay());
    await runtime.kill();
    seen.kills += 1;
    // What it was to look at is still to be looked at by the next one.
    return before;
  }
  const { session } = await runtime.answer();
  ready.push(performance.now() - startedAt);
  const { left } = (await runtime.answer()) as unknown as { left: Left };
  compare(before, left, home);
  runtime.send({ go: true });
  const killed = pause(takeDelay()).then(() => runtime.kill());
  const told = await toldUntilTheEnd(runtime);
  await killed;
  seen.kills += 1;
  return { session: String(session), ...told };
}

async function toldUntilTheEnd(runtime: RuntimeProcess): Promise<Omit<Told, "session">> {
  const tried = new Set<string>();
  const done = new Set<string>();
  for (;;) {
    try {
      const line = await runtime.answer();
      if (typeof line.tried === "string") tried.add(line.tried);
      if (typeof line.done === "string") done.add(line.done);
    } catch {
      return { tried, done };
    }
  }
}

/** Acknowledged ⊆ left ⊆ tried, in the journal and in what each kind of call was to leave. */
function compare({ tried, done }: Told, { rows, jobs, tally }: Left, home: string): void {
  const byId = new Map(rows.map((row) => [row.id, row]));
  seen.acknowledged += done.size;
  seen.unreadable += rows.filter(({ damaged }) => damaged === true).length;
  seen.twice += tally.length - new Set(tally).size;
  seen.unknown += rows.filter(({ status }) => status === "unknown").length;
  expect(rows.filter(({ status }) => status !== "ok" && status !== "unknown")).toEqual([]);
  const files = new Set<string>();
  for (const name of readdirSync(join(home, "work"))) {
    if (!/^file-\d+\.txt$/.test(name)) continue;
    const lines = new Set(
      readFileSync(join(home, "work", name), "utf8")
        .trimEnd()
        .split("\n"),
    );
    if (lines.size !== 1) seen.unreadable += 1;
    for (const line of lines) files.add(line);
  }
  const newest = new Map<number, string>();
  for (const id of done) newest.set(Number(id.split("-")[1]) % 15, id);
  for (const id of done) {
    const number = Number(id.split("-")[1]);
    const effect = [
      () => tally.includes(id),
      // A later call, perhaps the one under way, may have written the same file again.
      () => newest.get(number % 15) !== id || files.has(id) || files.has(follower(id)),
      () => jobs.includes(id),
    ][number % 3];
    const isThere = effect?.() === true;
    if (byId.get(id)?.status === "ok" && isThere) continue;
    seen.lost += 1;
    console.error(
      `${id}: ${byId.get(id)?.status}, its effect is ${isThere ? "there" : "lost"}; ${jobs.length} jobs`,
    );
  }
  const invented = (id: string) => /^\d+-\d+$/.test(id) && tried.size > 0 && !tried.has(id);
  seen.invented += rows.filter(({ id }) => invented(id)).length + jobs.filter(invented).length;
}

function follower(id: string): string {
  const [round, number] = id.split("-").map(Number);
  return `${round}-${(number ?? 0) + 15}`;
}
