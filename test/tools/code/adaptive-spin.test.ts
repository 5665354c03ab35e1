import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AdaptiveSpin, SpinningLoop } from "../../../src/tools/code/quickjs/adaptive-spin.js";

/** How many waits go by until one is spent awake again. */
function leftOut(spin: AdaptiveSpin): number {
  let count = 0;
  while (spin.begin() === undefined) count += 1;
  return count;
}

describe("waiting awake", () => {
  it("is left out for twice as long each time it was in vain, up to 64 waits", () => {
    const spin = new AdaptiveSpin();
    expect(leftOut(spin)).toBe(0);
    const pauses = Array.from({ length: 8 }, () => {
      spin.failed();
      return leftOut(spin);
    });
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 64, 64]);
  });

  it("is tried again sooner once it has paid off", () => {
    const spin = new AdaptiveSpin();
    for (let time = 0; time < 6; time += 1) spin.failed();
    leftOut(spin);
    for (let time = 0; time < 6; time += 1) spin.paidOff();
    expect(leftOut(spin)).toBe(0);
    spin.failed();
    expect(leftOut(spin)).toBe(2);
  });

  it("keeps an event loop turning only for a moment", async () => {
    const loop = new SpinningLoop();
    loop.answered();
    await delay(20);
    expect(process.getActiveResourcesInfo()).not.toContain("Immediate");
  });
});
