// P1: an ordinary day in a short time: sessions come and go, files are written and read, commands run, fail and are
// refused, background processes are left behind, results spill, event clients connect and leave, figures are asked for.
import { connect } from "node:net";
import { join } from "node:path";
import { ask, post } from "../serve.mjs";
import { withMeasuredServer } from "./measured-server.mjs";
import { slope } from "./slope.mjs";

/** An agent that works makes a call every two seconds; twelve times that. */
const CALLS_A_SECOND = 6;
/**
 * Warm-up is counted in steps, not minutes, and made at a quicker rate: until then code is being compiled (after 3,000
 * steps there is still more than a megabyte of it to come) and the pool of sessions is not full.
 */
const WARM_STEPS = 6_000;
const WARM_STEPS_A_SECOND = 30;
const WARM_SHARE = 0.3;
/** What came with the quicker rate is over: background processes, connections. */
const SETTLE_SECONDS = 20;
/** Full collections, after which memory holds what is alive and nothing else. */
const COLLECT_SECONDS = 10;
/** Few, so that the pool of 256 sessions is full, and gives the oldest up, before the warm-up is over. */
const SESSION_CALLS = 5;
const MOST_PENDING = 60;

export async function measureSoak({ dist, minutes }) {
  const measured = await withMeasuredServer(
    { dist, sockets: 32, collectEvery: COLLECT_SECONDS, config: "terminal:\n  max_processes: 20\n" },
    async ({ server, home }) => {
      const seen = { calls: 0, errors: [] };
      const began = performance.now();
      const until = began + minutes * 60_000;
      const pending = new Set();
      const warmSteps = Math.min(WARM_STEPS, minutes * 60 * WARM_SHARE * WARM_STEPS_A_SECOND);
      for (let turn = 0; performance.now() < until; turn += 1) {
        const isWarm = turn >= warmSteps;
        if (isWarm) seen.warmSeconds ??= (performance.now() - began) / 1_000 + SETTLE_SECONDS;
        if (pending.size >= MOST_PENDING) await Promise.race(pending);
        const done = soakStep({ server, cwd: join(home, "work"), turn })
          .catch((error) => seen.errors.push(error.message))
          .finally(() => pending.delete(done));
        pending.add(done);
        seen.calls += 1;
        const aSecond = isWarm ? CALLS_A_SECOND : WARM_STEPS_A_SECOND;
        await new Promise((resolve) => setTimeout(resolve, 1_000 / aSecond));
      }
      await Promise.all(pending);
      return seen;
    },
  );
  const { calls, warmSeconds = 0, errors, samples, zombies, orphans, files } = measured;
  const settled = samples.filter(({ collected, second }) => collected && second >= warmSeconds);
  const over = (pick) => slope(settled.map((sample) => [sample.second / 3_600, pick(sample)]));
  const rss = over((sample) => sample.rss / 2 ** 20);
  const alive = over((sample) => (sample.heap - sample.code + sample.external) / 2 ** 20);
  const parts = Object.entries({
    "objects in the heap": ({ heap, code }) => heap - code,
    "memory outside of it": ({ external }) => external,
    "compiled code, which is not counted": ({ code }) => code,
  }).map(([name, pick]) => `${name} ${said(over((sample) => pick(sample) / 2 ** 20))}`);
  const descriptors = over((sample) => sample.descriptors);
  const timers = over((sample) => sample.timers);
  const perDay = (CALLS_A_SECOND * 86_400) / 12;
  const logs = Object.entries(files).map(
    ([name, { files: count, bytes }]) => `${name} ${count} × ${(bytes / 2 ** 20).toFixed(1)} MB`,
  );
  return {
    samples,
    calls,
    note: [
      `${calls} steps at ${CALLS_A_SECOND} a second, after a quicker warm-up of ${Math.round(warmSeconds)} s`,
      `resident memory grows by ${said(rss)} MB an hour, what is alive besides compiled code by ${said(alive)} MB an hour, descriptors by ${said(descriptors)}, timers by ${said(timers)}`,
      `by part: ${parts.join(", ")}`,
      `at the normal rate (${perDay} calls a day) that would grow by ${((alive.perUnit / 12) * 24).toFixed(1)} MB a day`,
      `left in the home: ${logs.join(", ")}`,
      ...(errors.length > 0 ? [`first error: ${errors[0]}`] : []),
    ].join("; "),
    figures: [
      { what: "errors", value: errors.length, limit: 0, unit: "" },
      grows("resident memory", { slope: rss, unit: "MB/h" }),
      grows("what is alive besides compiled code", { slope: alive, unit: "MB/h" }),
      grows("descriptors", { slope: descriptors, unit: "1/h" }),
      grows("timers", { slope: timers, unit: "1/h" }),
      { what: "zombies at any look, and orphans", value: zombies + orphans, limit: 0, unit: "" },
      {
        what: "log files of processes, together",
        value: (files.processes?.bytes ?? 0) / 2 ** 20,
        limit: 64,
        unit: "MB",
      },
    ],
  };
}

/** It is one when it is larger than the noise it was measured in, and surely none when that noise leaves no room for it. */
function grows(what, { slope: { low, high }, unit }) {
  return {
    what: `growth of ${what}, surely more than`,
    value: Math.max(0, low),
    upTo: Math.max(0, high),
    limit: 1,
    unit,
  };
}

function said({ perUnit, low, high }) {
  return `${perUnit.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

async function soakStep({ server, cwd, turn }) {
  const session = `soak-${Math.floor(turn / SESSION_CALLS)}`;
  const call = (name, args) => post({ server, session, call: { name, arguments: args } });
  const refused = (name, args) => call(name, args).then(unexpected(name), () => undefined);
  const file = join(cwd, `file-${turn % 50}.txt`);
  const edited = join(cwd, `edited-${turn % 1_000}.txt`);
  switch (turn % 20) {
    case 0:
      return call("write_file", { path: file, content: `turn ${turn}\n`.repeat(20) });
    case 1:
      await call("write_file", { path: edited, content: "before\n" });
      return call("patch", { path: edited, old_string: "before", new_string: `after ${turn}` });
    case 2:
      return call("search_files", { pattern: "line", path: cwd, limit: 5 });
    case 3:
      return call("terminal", { command: `echo ${turn}; ls ${cwd} | wc -l` });
    case 4:
      return call("terminal", { command: "seq 1 200000" });
    case 5:
      return refused("read_file", { path: join(cwd, "is-not-there.txt") });
    case 6:
      return refused("no_such_tool", {});
    case 7:
      return refused("terminal", { command: "rm -rf /" });
    case 8: {
      const { session_id } = await call("terminal", {
        command: "for i in 1 2 3 4 5; do echo $i; sleep 1; done",
        background: true,
      });
      return call("process", { action: "poll", session_id });
    }
    case 9:
      return listenShortly(server);
    case 10:
      await ask({ server, path: "/v1/tools" });
      return ask({ server, path: "/v1/calls?limit=50" });
    case 11:
      return ask({ server, method: "POST", path: "/mcp", body: "{broken" });
    case 12:
      return ask({ server, path: "/v1/stats?since=1h" });
    case 13:
      return call("sleep", { seconds: 0.2 });
    default:
      return call("read_file", { path: join(cwd, "note.txt"), limit: 50 });
  }
}

function unexpected(name) {
  return () => {
    throw new Error(`${name} was not refused`);
  };
}

/** A client of events that reads a little and goes away without a word. */
function listenShortly({ port, token }) {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => undefined);
    socket.write(
      `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    socket.once("data", () =>
      setTimeout(() => {
        socket.destroy();
        resolve();
      }, 300),
    );
    socket.once("close", resolve);
  });
}
