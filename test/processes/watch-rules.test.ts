import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WATCH_LIMITS, WatchBreaker, WatchRules } from "../../src/env/processes/watch-rules.js";

describe("watch rules", () => {
  it("tell the first match at once and the next one 15 s later", () => {
    const rules = new WatchRules(new WatchBreaker());
    expect(rules.matched(0)).toMatchObject({ tell: true });
    expect(rules.matched(14_999)).toMatchObject({ tell: false });
    expect(rules.matched(15_000)).toMatchObject({ tell: true, suppressed: 1 });
  });

  it("give way to a notice at the end after three windows in a row with too many matches", () => {
    const rules = new WatchRules(new WatchBreaker());
    const at = (seconds: number) => rules.matched(seconds * 1000);
    at(0);
    expect(at(1)).toEqual({ tell: false });
    at(20);
    expect(at(21)).toEqual({ tell: false });
    at(40);
    expect(at(41)).toMatchObject({ tell: false, switchedOff: expect.any(String) });
    expect(rules.off).toBe(true);
    expect(at(100)).toEqual({ tell: false });
  });

  it("forgive when a window was quiet", () => {
    const rules = new WatchRules(new WatchBreaker());
    const at = (seconds: number) => rules.matched(seconds * 1000);
    at(0);
    at(1);
    at(20);
    at(21);
    at(40);
    at(60);
    at(80);
    expect(at(81)).toEqual({ tell: false });
    expect(rules.off).toBe(false);
  });

  it("end after eight notices", () => {
    const rules = new WatchRules(new WatchBreaker());
    const told = Array.from({ length: 20 }, (_, index) => rules.matched(index * 20_000));
    expect(told.filter((decision) => decision.tell)).toHaveLength(8);
    expect(told[7]).toMatchObject({ last: true });
  });

  it("pause for 30 s when all processes together say more than 15 things in 10 s", () => {
    const breaker = new WatchBreaker();
    const told = (now: number) => new WatchRules(breaker).matched(now).tell;
    expect(Array.from({ length: 20 }, (_, index) => told(index)).filter(Boolean)).toHaveLength(15);
    expect(told(30_000)).toBe(false);
    expect(told(30_016)).toBe(true);
  });

  it("never tell more than the limits say, whenever things match", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 300 }), (steps) => {
        const rules = new WatchRules(new WatchBreaker());
        const told: number[] = [];
        let now = 0;
        for (const step of steps) {
          now += step;
          if (rules.matched(now).tell) told.push(now);
        }
        expect(told.length).toBeLessThanOrEqual(WATCH_LIMITS.lifetime);
        for (const [index, at] of told.entries()) {
          const before = told[index - 1];
          if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(WATCH_LIMITS.apartMs);
        }
      }),
    );
  });
});
