// What other programs take of the processors while something is measured: a delay that they cause is not ours.
import { readFileSync } from "node:fs";

const EVERY_MS = 1_000;

/**
 * Looks once a second, until it is stopped. `isQuiet(from, to)` tells whether all others together took less than `most` of
 * the machine in every second between two moments of `performance.now()`. Where /proc is missing nobody knows, and it is
 * never quiet.
 */
export function watchNeighbours({ pids, most = 0.1 }) {
  const looks = [];
  let before = look(pids);
  const timer = setInterval(() => {
    const now = look(pids);
    if (now === undefined || before === undefined) return;
    const all = now.all - before.all;
    const others = all === 0 ? 0 : Math.max(0, now.busy - before.busy - (now.ours - before.ours)) / all;
    looks.push({ from: before.at, to: now.at, others });
    before = now;
  }, EVERY_MS);
  return {
    isQuiet(from, to) {
      const during = looks.filter((one) => one.to >= from && one.from <= to);
      const covered = during.length > 0 && during[0].from <= from && during.at(-1).to >= to;
      return covered && during.every(({ others }) => others <= most);
    },
    quietSeconds: (since) => looks.filter(({ from, others }) => from >= since && others <= most).length,
    /** Their share of the machine from then on. */
    share(since) {
      const later = looks.filter(({ from }) => from >= since);
      return later.reduce((sum, { others }) => sum + others, 0) / Math.max(1, later.length);
    },
    stop: () => clearInterval(timer),
  };
}

function look(pids) {
  try {
    const [line] = readFileSync("/proc/stat", "utf8").split("\n");
    // Guest time, which follows the first eight, is in them already.
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const all = ticks.reduce((sum, value) => sum + value, 0);
    const [, , , idle, waiting] = ticks;
    const ours = pids.reduce((sum, pid) => sum + ticksOf(pid), 0);
    return { at: performance.now(), all, busy: all - idle - waiting, ours };
  } catch {
    return undefined;
  }
}

/** Its own, and those of its children that have ended. */
function ticksOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0);
}
