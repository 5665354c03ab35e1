// Two hundred clients of `hermes serve` at once, each with a mixed conversation: reads, listings and writes in one
// folder, and every twelfth call a command. What counts is how long a call takes that runs no command.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { post, startServer } from "../serve.mjs";

const CLIENTS = 200;
/** Between two calls of one client, on average: a model thinks longer than this. */
const THINK_MS = 1_500;
const COMMAND_EVERY = 12;
/** Until code is compiled and every client has its session. */
const WARM_SECONDS = 4;

export async function measureHttpLoad({ dist, effort }) {
  const home = await mkdtemp(join(tmpdir(), "hermes-bench-"));
  const server = await startServer({ dist, home, sockets: CLIENTS });
  try {
    const cwd = join(home, "work");
    const seconds = effort.rounds;
    const samples = { quiet: [], command: [] };
    const until = performance.now() + (seconds + WARM_SECONDS) * 1_000;
    const countFrom = until - seconds * 1_000;
    await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) =>
        converse({ server, cwd, client, until, countFrom, samples }),
      ),
    );
    return {
      clients: CLIENTS,
      callsPerSecond: (samples.quiet.length + samples.command.length) / seconds,
      milliseconds: {
        "http-no-command": at(samples.quiet, 0.5),
        "http-no-command-p99": at(samples.quiet, 0.99),
        "http-command": at(samples.command, 0.5),
        "http-command-p99": at(samples.command, 0.99),
      },
    };
  } finally {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}

async function converse({ server, cwd, client, until, countFrom, samples }) {
  await pause(Math.random() * THINK_MS);
  for (let turn = client; performance.now() < until; turn += 1) {
    const isCommand = turn % COMMAND_EVERY === 0;
    const started = performance.now();
    await post({
      server,
      session: `client-${client}`,
      call: isCommand ? COMMAND : quietCall(turn, { cwd, client }),
    });
    if (started >= countFrom) samples[isCommand ? "command" : "quiet"].push(performance.now() - started);
    await pause(THINK_MS * (0.5 + Math.random()));
  }
}

const COMMAND = { name: "terminal", arguments: { command: "sleep 0.2; echo done" } };

function quietCall(turn, { cwd, client }) {
  switch (turn % 4) {
    case 0:
      return {
        name: "write_file",
        arguments: { path: join(cwd, `out-${client}.txt`), content: `turn ${turn}\n` },
      };
    case 1:
      return { name: "directory_list", arguments: { path: cwd, limit: 50, git: false } };
    default:
      return { name: "read_file", arguments: { path: join(cwd, "note.txt"), limit: 50 } };
  }
}

/** One share of the distribution, in the shape of the other figures. */
function at(samples, share) {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { median: value, min: value };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
