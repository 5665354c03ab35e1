import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { KEY, startChat } from "./support.js";

const IDLE_MS = 1_500;

/** Processor time of the program so far, in hundredths of a second. */
function ticksOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

it("lesson 83: nothing is written and nothing is computed while nobody does anything", async () => {
  const chat = await startChat([{ text: "Done." }]);
  await chat.type(`go${KEY.enter}`);
  await chat.sees("Done.");
  await chat.isIdle();
  await pause(IDLE_MS);
  const before = { bytes: chat.bytes().length, ticks: ticksOf(chat.process.pid) };
  await pause(IDLE_MS);
  expect(chat.bytes().length).toBe(before.bytes);
  // A tenth of what one core could do in the time; repainting took all of it.
  expect(ticksOf(chat.process.pid) - before.ticks).toBeLessThan(IDLE_MS / 100);
});

it("lesson 83: a long answer costs its own length, not its length times the rows above it", async () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `this is line ${index}`);
  const text = lines.join("\n");
  const chat = await startChat([{ text }]);
  await chat.type(`go${KEY.enter}`);
  await chat.printed("this is line 2999");
  await chat.isIdle();
  expect(chat.bytes().length).toBeLessThan(text.length * 4);
});
