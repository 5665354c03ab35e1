import { describe, expect, it } from "vitest";
import { findKey } from "../../src/config/schema.js";

const load = (file: string) => import(new URL(`../../bench/load/${file}`, import.meta.url).href);
const { capacityOf, erlangC, predict, stationsOf } = await load("model.mjs");
const { readParameters, simulate } = await load("simulate.mjs");

const parameters = readParameters();

type Parts = { fronts: number; streams: number; workers: number };
type Station = "front" | "nats" | "slots";

const COUNTED = { front: "fronts", nats: "streams", slots: "workers" } as const;
/** Of the busy kind; a pool of slots is one queue, and more of a pool than of a single server. */
const FEW: Parts = { fronts: 1, streams: 1, workers: 10 };

/** A cluster in which one kind of station has this much to do, and the others are at ease; whatever the parameters say. */
function busy(station: Station, { use, given = parameters }: { use: number; given?: typeof parameters }) {
  const bears = (name: Station, parts: Parts) => capacityOf(stationsOf(given, parts)[name]);
  const callsPerSecond = use * bears(station, FEW);
  const needed = (name: Station) =>
    name === station
      ? FEW[COUNTED[name]]
      : Math.ceil(callsPerSecond / (0.4 * bears(name, { fronts: 1, streams: 1, workers: 1 })));
  return { callsPerSecond, fronts: needed("front"), streams: needed("nats"), workers: needed("slots") };
}

describe("the model of a cluster", () => {
  it("knows the textbook's share of calls that wait", () => {
    expect(erlangC(1, 0.5)).toBeCloseTo(0.5, 12);
    expect(erlangC(2, 1)).toBeCloseTo(1 / 3, 12);
    expect(erlangC(1_000, 900)).toBeLessThan(0.01);
  });

  it.each([
    ["front", 0.85],
    ["nats", 0.85],
    ["slots", 0.85],
    ["slots", 0.3],
  ] as const)("agrees with the simulation on the overhead when %s has a use of %d", (station, use) => {
    const cluster = busy(station, { use });
    const said = predict(parameters, cluster);
    const seen = simulate(parameters, { ...cluster, calls: 40_000, seed: 1 });
    expect(seen.meanMs / said.overheadMs).toBeGreaterThan(0.9);
    expect(seen.meanMs / said.overheadMs).toBeLessThan(1.1);
  });

  it.each(["front", "nats", "slots"] as const)(
    "names %s when it gives way, and the simulation bears as much as it says",
    (station) => {
      // Short, so that the last calls do not lengthen the whole; long enough that slots give way before cores.
      const given = { ...parameters, work: { ...parameters.work, waitMs: 60 } };
      const cluster = busy(station, { use: 1.5, given });
      expect(predict(given, cluster)).toMatchObject({
        bottleneck: station,
        overheadMs: Number.POSITIVE_INFINITY,
      });
      const { callsPerSecond } = simulate(given, { ...cluster, calls: 20_000, seed: 2 });
      expect(callsPerSecond / (cluster.callsPerSecond / 1.5)).toBeGreaterThan(0.9);
      expect(callsPerSecond / (cluster.callsPerSecond / 1.5)).toBeLessThanOrEqual(1.02);
    },
  );

  it("has workers as they are by default", () => {
    const slots = findKey("cluster.slots");
    expect(parameters.worker.slots).toBe(slots?.default);
  });

  it("gives the same for the same seed, and another for another", () => {
    const cluster = { callsPerSecond: 300, fronts: 1, streams: 1, workers: 30, calls: 2_000 };
    const once = simulate(parameters, { ...cluster, seed: 3 });
    expect(simulate(parameters, { ...cluster, seed: 3 })).toEqual(once);
    expect(simulate(parameters, { ...cluster, seed: 4 })).not.toEqual(once);
  });
});
