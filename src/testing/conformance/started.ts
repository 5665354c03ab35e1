import { setTimeout as delay } from "node:timers/promises";
import type { ProcessEnd, RunningProcess } from "../../env/environment.js";
import { fail, within } from "./expect.js";

/** A spawned program with what it has printed so far. */
export interface Started {
  readonly process: RunningProcess;
  text(): string;
  bytes(): number;
  /** Waits until the output contains or matches this. */
  shows(expected: string | RegExp, withinMs?: number): Promise<void>;
  ended(withinMs?: number): Promise<ProcessEnd>;
}

/** Beyond this only the count goes on. */
const KEPT_BYTES = 1_000_000;

export async function startedProcess(
  spawn: (onOutput: (bytes: Uint8Array) => void) => Promise<RunningProcess>,
): Promise<Started> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let kept = 0;
  const process = await spawn((bytes) => {
    total += bytes.byteLength;
    if (kept >= KEPT_BYTES) return;
    kept += bytes.byteLength;
    // The bytes may be in a buffer that is used again.
    chunks.push(Uint8Array.from(bytes));
  });
  const text = () => Buffer.concat(chunks).toString("utf8");
  return {
    process,
    text,
    bytes: () => total,
    async shows(expected, withinMs = 15_000) {
      const deadline = Date.now() + withinMs;
      const there = () => (typeof expected === "string" ? text().includes(expected) : expected.test(text()));
      while (!there()) {
        if (Date.now() > deadline) {
          fail({
            what: "output of the started program",
            expected: String(expected),
            seen: JSON.stringify(text().slice(-600)),
          });
        }
        await delay(10);
      }
    },
    ended: (withinMs = 15_000) => within(withinMs, "the started program's end", process.ended),
  };
}
