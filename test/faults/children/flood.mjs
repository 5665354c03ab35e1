// Starts many writers and looks at the list again and again while they write.
import { setTimeout as delay } from "node:timers/promises";
import { closeAtEnd, openSession, options, say } from "./session.mjs";

// A tenth of a megabyte ten times a second, by one process that needs next to no time for it.
const WRITER =
  '$| = 1; my $b = ("x" x 99) . "\\n"; $b = $b x 1000; while (1) { syswrite(STDOUT, $b); select(undef, undef, undef, 0.1) }';

const { runtime, call } = await openSession();
closeAtEnd(runtime);
const ids = [];
for (let started = 0; started < options.count; started += 1) {
  const { session_id } = await call("terminal", { command: `exec perl -e '${WRITER}'`, background: true });
  ids.push(session_id);
}
say({ started: ids.length });
const list = [];
const poll = [];
const until = Date.now() + options.seconds * 1000;
while (Date.now() < until) {
  list.push(await timed({ action: "list" }));
  const session_id = ids[(list.length * 7) % ids.length];
  const { status } = await call("process", { action: "poll", session_id });
  if (status !== "running") throw new Error(`${session_id} is ${status}`);
  poll.push(await timed({ action: "poll", session_id }));
  await delay(20);
}
say({ calls: list.length, list: spread(list), poll: spread(poll), running: runtime.processes.list().length });

async function timed(args) {
  const before = performance.now();
  await call("process", args);
  return performance.now() - before;
}

function spread(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { median: at(0.5), p99: at(0.99) };
}
