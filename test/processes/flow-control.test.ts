import { describe, expect, it, vi } from "vitest";
import { FlowControl, type FlowSource } from "../../src/env/processes/flow-control.js";

const CHUNK = 65_536;
const TURN = 1024 * 1024;

class Source implements FlowSource {
  paused = false;
  pauseOutput(paused: boolean): void {
    this.paused = paused;
  }
}

function sources(flow: FlowControl, count: number): Source[] {
  const made = Array.from({ length: count }, () => new Source());
  for (const source of made) flow.add(source);
  return made;
}

/** What a turn of the event loop reads when every pipe has something in it. */
function readReady(flow: FlowControl, all: readonly Source[]): number {
  let bytes = 0;
  for (const source of all) {
    if (source.paused) continue;
    bytes += CHUNK;
    flow.took(CHUNK);
  }
  return bytes;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("many processes that print at once", () => {
  it("have a bound for each turn of the event loop, and everybody's turn comes", async () => {
    const flow = new FlowControl();
    const all = sources(flow, 500);
    const had = new Set<Source>();
    for (let turn = 0; turn < 34; turn += 1) {
      const ready = all.filter((source) => !source.paused);
      expect(readReady(flow, all)).toBeLessThanOrEqual(TURN);
      for (const source of ready.slice(0, TURN / CHUNK)) had.add(source);
      while (all.every((source) => source.paused)) await nextTurn();
    }
    expect(had.size).toBe(all.length);
  });

  it("are not read for as long as reading them took, so that others get a processor", async () => {
    const flow = new FlowControl();
    const all = sources(flow, 500);
    flow.took(1);
    const until = performance.now() + 40;
    while (performance.now() < until);
    readReady(flow, all);
    const full = performance.now();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(all.every((source) => source.paused)).toBe(true);
    await vi.waitFor(() => expect(all.some((source) => !source.paused)).toBe(true), { interval: 1 });
    expect(performance.now() - full).toBeGreaterThan(35);
  });

  it("are not stopped while they print little", async () => {
    const flow = new FlowControl();
    const all = sources(flow, 10);
    for (let turn = 0; turn < 5; turn += 1) {
      expect(readReady(flow, all)).toBe(10 * CHUNK);
      await nextTurn();
    }
  });

  it("are let go on when they have ended", async () => {
    const flow = new FlowControl();
    const [source] = sources(flow, 1);
    if (source === undefined) throw new Error("no source");
    flow.wait(source);
    expect(source.paused).toBe(true);
    flow.remove(source);
    expect(source.paused).toBe(false);
    await nextTurn();
    flow.wait(source);
    expect(source.paused).toBe(false);
  });
});
