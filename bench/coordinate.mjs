// Takes turns: every contestant does a short round, again and again, so that whatever else the machine is doing
// falls on all of them alike.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Contestants whose smallest round is this much too long take part in the first few rounds only. */
const SLOW_FACTOR = 4;
const SLOW_ROUNDS = 5;
const WARM_ROUNDS = 4;

const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));

/** The environment of everything that is measured; see docs/performance.md for why. */
export function cleanEnvironment(extra = {}) {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...env } = process.env;
  return { ...env, NO_COLOR: "1", ...extra };
}

/** Starts a subject; `measure(operation, count)` gives the nanoseconds of that many units. */
export async function startSubject(name, options = {}) {
  const child = fork(WORKER, [name, JSON.stringify(options)], {
    env: cleanEnvironment(),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaints = (complaints + text).slice(-2_000);
  });
  const answer = async () => {
    const end = new AbortController();
    try {
      const [message] = await Promise.race([
        once(child, "message", { signal: end.signal }),
        once(child, "exit", { signal: end.signal }).then(([code]) => {
          throw new Error(`${name} ended with exit code ${code}: ${complaints}`);
        }),
      ]);
      if (message.error !== undefined) throw new Error(message.error);
      return message;
    } finally {
      end.abort();
    }
  };
  await answer();
  return {
    name,
    async measure(operation, count) {
      const replied = answer();
      child.send({ operation, count });
      return (await replied).nanoseconds;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/**
 * Runs `work` with a way to start subjects, and stops them all afterwards. A peer that cannot be started is left out
 * with its reason; the rest can still be compared.
 */
export async function withSubjects(work) {
  const started = [];
  const leftOut = {};
  const start = async (name, options) => {
    const subject = await startSubject(name, options);
    started.push(subject);
    return subject;
  };
  const startPeer = async (name, options) => {
    try {
      return await start(name, options);
    } catch (error) {
      leftOut[name] = error.message.split("\n").slice(0, 3).join(" ");
      return undefined;
    }
  };
  try {
    return { ...(await work({ start, startPeer })), leftOut };
  } finally {
    for (const subject of started) await subject.stop();
  }
}

/**
 * Measures `contestants` ({ id: { subject, operation } }) in turn. Answers with nanoseconds per unit, one number per
 * round and contestant.
 */
export async function takeTurns(contestants, { rounds, roundMs }) {
  const entries = Object.entries(contestants);
  const counts = new Map();
  for (const [id, contestant] of entries) counts.set(id, await warmUp(contestant, roundMs));
  const samples = Object.fromEntries(entries.map(([id]) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [id, { subject, operation }] of entries) {
      const { count, slow } = counts.get(id);
      if (slow && round >= SLOW_ROUNDS) continue;
      samples[id].push((await subject.measure(operation, count)) / count);
    }
  }
  return samples;
}

/** Runs until the code is hot, and learns how many units fill a round. */
async function warmUp({ subject, operation }, roundMs) {
  let count = 1;
  for (let spentMs = 0; ; ) {
    const elapsedMs = (await subject.measure(operation, count)) / 1e6;
    spentMs += elapsedMs;
    if (elapsedMs < roundMs / 2) {
      count *= 2;
      continue;
    }
    count = Math.max(1, Math.round((count * roundMs) / elapsedMs));
    if (spentMs > WARM_ROUNDS * roundMs) return { count, slow: elapsedMs > SLOW_FACTOR * roundMs };
  }
}
