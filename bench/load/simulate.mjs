// The same cluster, call by call: a discrete-event simulation with a seed, to hold the closed model against.
//   node bench/load/simulate.mjs          the tables of docs/scaling.md
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { percentile } from "../statistics.mjs";
import { capacityOf, predict, stationsOf } from "./model.mjs";

export function readParameters() {
  return JSON.parse(readFileSync(new URL("./scaling.json", import.meta.url), "utf8"));
}

/** Calls arrive at random, `calls` of them; the first tenth is not counted. */
export function simulate(parameters, { callsPerSecond, calls, seed, ...cluster }) {
  const random = generator(seed);
  const { nats, worker, work } = parameters;
  const stations = stationsOf(parameters, cluster);
  const fronts = groupsOf(stations.front);
  const streams = groupsOf(stations.nats);
  const [slots] = groupsOf(stations.slots);
  const agenda = new Agenda();
  const overheads = [];
  const pick = (groups) => groups[Math.floor(random() * groups.length)];
  const served = ({ serviceMs, scv }) => gamma(random, serviceMs, scv);

  const arrive = (at, index) => {
    if (index + 1 < calls) {
      const next = at - (Math.log(1 - random()) * 1_000) / callsPerSecond;
      agenda.add(next, () => arrive(next, index + 1));
    }
    const front = pick(fronts);
    const stream = pick(streams);
    const waitMs = gamma(random, work.waitMs, work.scv);
    const isCounted = index >= calls / 10;
    const through = (station, ms, then) => pass({ agenda, station, ms, then });
    const carried = (then) =>
      through(stream, served(stations.nats), (when) => agenda.add(when + nats.latencyMs, then));
    through(front, served(stations.front), () =>
      carried(() =>
        through(slots, waitMs + worker.cpuMs, () =>
          carried(() =>
            through(front, served(stations.front), (ended) => {
              if (isCounted) overheads.push(ended - at - waitMs);
            }),
          ),
        ),
      ),
    );
  };
  agenda.add(0, () => arrive(0, 0));
  const endedMs = agenda.run();
  return {
    callsPerSecond: (calls * 1_000) / endedMs,
    meanMs: overheads.reduce((sum, ms) => sum + ms, 0) / overheads.length,
    medianMs: percentile(overheads, 0.5),
    p99Ms: percentile(overheads, 0.99),
  };
}

function groupsOf({ servers, groups }) {
  return Array.from({ length: groups }, () => ({ free: servers, queue: [], head: 0 }));
}

/** First come, first served. */
function pass({ agenda, station, ms, then }) {
  const begin = () => {
    const ends = agenda.now + ms;
    agenda.add(ends, () => {
      const next = station.queue[station.head];
      if (next === undefined) station.free += 1;
      else {
        station.head += 1;
        if (station.head > 1_024) {
          station.queue.splice(0, station.head);
          station.head = 0;
        }
        next();
      }
      then(ends);
    });
  };
  if (station.free === 0) station.queue.push(begin);
  else {
    station.free -= 1;
    begin();
  }
}

/** What happens next, by time: a binary heap. */
class Agenda {
  now = 0;
  #heap = [];

  add(at, act) {
    const heap = this.#heap;
    let child = heap.push({ at, act }) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (heap[parent].at <= heap[child].at) break;
      [heap[parent], heap[child]] = [heap[child], heap[parent]];
      child = parent;
    }
  }

  /** Until nothing is left; answers with the moment of the last. */
  run() {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.now = next.at;
      next.act();
    }
    return this.now;
  }

  #take() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    heap[0] = last;
    for (let parent = 0; ; ) {
      let least = 2 * parent + 1;
      if (least >= heap.length) return first;
      if (least + 1 < heap.length && heap[least + 1].at < heap[least].at) least += 1;
      if (heap[parent].at <= heap[least].at) return first;
      [heap[parent], heap[least]] = [heap[least], heap[parent]];
      parent = least;
    }
  }
}

/** Mulberry32. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A time with this mean and this squared coefficient of variation; Marsaglia and Tsang. */
function gamma(random, mean, scv) {
  if (scv === 0) return mean;
  const shape = 1 / scv;
  const d = (shape < 1 ? shape + 1 : shape) - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * x) ** 3;
    if (v <= 0 || Math.log(1 - random()) >= 0.5 * x * x + d - d * v + d * Math.log(v)) continue;
    const boost = shape < 1 ? (1 - random()) ** (1 / shape) : 1;
    return d * v * boost * mean * scv;
  }
}

/** Nothing is asked for more than this where a cluster is made for its load. */
const MADE_FOR = 0.7;
/** What is meant to be the bottleneck: close to the edge, where it still answers. */
const EDGE = 0.95;

/** The clusters that docs/scaling.md speaks of. */
function clusters(parameters) {
  const one = stationsOf(parameters, { fronts: 1, streams: 1, workers: 1 });
  const bears = Object.fromEntries(Object.entries(one).map(([name, station]) => [name, capacityOf(station)]));
  const needed = (name, rate) => Math.ceil(rate / (MADE_FOR * bears[name]));
  const madeFor = (rate) => ({
    callsPerSecond: rate,
    fronts: needed("front", rate),
    streams: needed("nats", rate),
    workers: Math.max(needed("slots", rate), needed("cores", rate)),
  });
  const aWorker = Math.min(bears.slots, bears.cores);
  const upTo = (rate, edges) => ({ ...madeFor(Math.round(rate / 10) * 10), workers: 1_000, ...edges });
  return [
    { name: "one machine's worth", ...madeFor(100) },
    { name: "a million calls an hour", ...madeFor(278) },
    { name: "a million an hour, three times that at the peak", ...madeFor(834) },
    { name: "1,000 workers, one front node", ...upTo(EDGE * bears.front, { fronts: 1 }) },
    {
      name: "1,000 workers, one stream",
      ...upTo(Math.min(EDGE * bears.nats, MADE_FOR * 1_000 * aWorker), { streams: 1 }),
    },
    { name: "1,000 workers at 75 %", ...upTo(0.75 * 1_000 * aWorker) },
  ];
}

const CALLS = 200_000;

export function clusterTable(parameters = readParameters()) {
  return [
    "| cluster | calls a second | front nodes · streams · workers | most it bears | bottleneck, its use | overhead, model | overhead, simulated | p99, simulated |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...clusters(parameters).map(({ name, ...cluster }, index) => {
      const said = predict(parameters, cluster);
      const seen = simulate(parameters, { ...cluster, calls: CALLS, seed: 17 + index });
      const { callsPerSecond, fronts, streams, workers } = cluster;
      const cells = [
        name,
        thousands(callsPerSecond),
        `${fronts} · ${streams} · ${thousands(workers)}`,
        `${thousands(said.mostCallsPerSecond)}/s`,
        `${said.bottleneck}, ${Math.round(said.use[said.bottleneck] * 100)} %`,
        `${said.overheadMs.toFixed(1)} ms`,
        `${seen.meanMs.toFixed(1)} ms`,
        `${seen.p99Ms.toFixed(1)} ms`,
      ];
      return `| ${cells.join(" | ")} |`;
    }),
  ].join("\n");
}

/** What one of each kind bears, and how many a given rate needs at 70 % use. */
export function partsTable(parameters = readParameters()) {
  const one = stationsOf(parameters, { fronts: 1, streams: 1, workers: 1 });
  const rates = [278, 2_780, 24_000];
  const names = {
    front: "front node",
    nats: "leader of a stream",
    slots: "worker, its slots",
    cores: "worker, its cores",
  };
  return [
    `| part | one bears | ${rates.map((rate) => `for ${thousands(rate)}/s`).join(" | ")} |`,
    `| --- | --- | ${rates.map(() => "---").join(" | ")} |`,
    ...Object.entries(one).map(([name, station]) => {
      const bears = capacityOf(station);
      const needed = rates.map((rate) => thousands(Math.ceil(rate / (MADE_FOR * bears))));
      return `| ${names[name]} | ${thousands(bears)}/s | ${needed.join(" | ")} |`;
    }),
  ].join("\n");
}

function thousands(value) {
  return Math.round(value).toLocaleString("en-US");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`${partsTable()}\n\n${clusterTable()}`);
}
