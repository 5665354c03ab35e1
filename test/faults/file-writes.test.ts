import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { FULL, faultHome, type RuntimeProcess, startRuntime } from "./support.js";

const ROUNDS = FULL ? 25 : 3;
const FILES = 20;
const BYTES = 200_000;
/** At least this many answered writes altogether. */
const WRITES = FULL ? 500 : 1;
const WRITER = { script: "./children/writer.mjs" };

test(`a runtime killed ${ROUNDS} times while it writes leaves every file whole, and its temporary files go`, async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const work = join(home, "work");
  for (let folder = 0; folder < 5; folder++) mkdirSync(join(work, `folder-${folder}`));
  /** What was last acknowledged, by file. */
  const answered = new Map<number, string>();
  let writes = 0;
  let left = 0;
  let round = 0;
  for (; round < ROUNDS || writes < WRITES; round++) {
    const runtime = await startRuntime(home, {
      ...WRITER,
      args: { task: "writes", files: FILES, bytes: BYTES, round },
    });
    onTestFinished(() => runtime.kill());
    await runtime.answer();
    const killed = delay(20 + Math.random() * 300).then(() => runtime.kill());
    writes += await notesUntil(runtime, answered);
    await killed;
    left += temporaryFiles(work).length;
    const found = contents(work);
    for (const [number, content] of found) {
      expect([number, new Set(content).size, content.length]).toEqual([number, 1, BYTES]);
    }
    // Only the write that was under way may be there without an answer; no answered one is missing.
    const unexpected = [...answered].filter(([number, letter]) => found.get(number)?.[0] !== letter);
    expect(unexpected.length).toBeLessThanOrEqual(1);
    for (const [number, content] of found) answered.set(number, content.charAt(0));
  }
  const next = await startRuntime(home, { ...WRITER, args: { task: "edits", slots: ["last"], mark: "new" } });
  onTestFinished(() => next.kill());
  writeFileSync(join(work, "shared.txt"), "last=old;\n");
  await next.answer();
  expect(await next.answer()).toEqual({ done: ["last"] });
  await expect.poll(() => temporaryFiles(work), { timeout: 10_000 }).toEqual([]);
  await next.close();
  expect(ledgers(next.pid)).toEqual([]);
  console.info(
    `${round} kills during ${writes} answered writes: every file whole, ${left} temporary files left and removed`,
  );
}, 180_000);

const SLOTS = 100;

test(`${SLOTS} edits of one file by two processes: each acknowledged one is there in the end`, async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const slots = Array.from({ length: SLOTS }, (_, index) => `slot${index}`);
  const file = join(home, "work", "shared.txt");
  writeFileSync(file, slots.map((slot) => `${slot}=old;\n`).join(""));
  const start = async (mark: string, mine: readonly string[]) => {
    const runtime = await startRuntime(home, { ...WRITER, args: { task: "edits", slots: mine, mark } });
    onTestFinished(() => runtime.kill());
    return runtime;
  };
  const both = await Promise.all([
    start(
      "one",
      slots.filter((_, index) => index % 2 === 0),
    ),
    start(
      "two",
      slots.filter((_, index) => index % 2 === 1),
    ),
  ]);
  const done = await Promise.all(
    both.map(async (runtime) => {
      await runtime.answer();
      return (await runtime.answer()).done as string[];
    }),
  );
  await Promise.all(both.map((runtime) => runtime.close()));
  const text = readFileSync(file, "utf8");
  for (const [index, mark] of ["one", "two"].entries()) {
    for (const slot of done[index] ?? []) expect(text).toContain(`${slot}=${mark};\n`);
  }
  expect(done.flat().length).toBe(SLOTS);
}, 120_000);

/** Reads what the runtime says until it is gone; answers how many writes it has acknowledged. */
async function notesUntil(runtime: RuntimeProcess, answered: Map<number, string>): Promise<number> {
  for (let count = 0; ; count++) {
    try {
      const { number, letter } = await runtime.answer();
      answered.set(number as number, letter as string);
    } catch {
      return count;
    }
  }
}

function contents(work: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync(work, { recursive: true, encoding: "utf8" })) {
    const [, number] = /file-(\d+)\.txt$/.exec(name) ?? [];
    if (number !== undefined) found.set(Number(number), readFileSync(join(work, name), "utf8"));
  }
  return found;
}

function temporaryFiles(work: string): readonly string[] {
  return readdirSync(work, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tmp"));
}

/** Notes about folders with temporary files that a process has left. */
function ledgers(pid: number): readonly string[] {
  const folder = join(process.env.TMPDIR ?? tmpdir(), `hermes-writes-${process.getuid?.() ?? 0}`);
  return readdirSync(folder).filter((name) => name.includes(`-${pid}-`));
}
