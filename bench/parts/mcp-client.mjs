// Calls of MCP tools: beside the bare SDK, among servers in trouble, and after a crash.
import { fileURLToPath } from "node:url";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

const server = fileURLToPath(new URL("../servers/mcp-echo.mjs", import.meta.url));
const HEALTHY = 45;

export function measureMcpClient({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const calls = await takeTurns(
      {
        "bare-sdk": { subject: await start("bare-mcp", { server, ownSession: true }), operation: "oneByOne" },
        "bare-sdk-same-session": { subject: await start("bare-mcp", { server }), operation: "oneByOne" },
        "mcp-call": { subject: await start("hermes-mcp", { dist, server }), operation: "oneByOne" },
        "mcp-call-journal": {
          subject: await start("hermes-mcp", { dist, server, journal: true }),
          operation: "oneByOne",
        },
      },
      effort,
    );
    const fleet = await measureFleet({ start, dist, effort });
    const alone = await start("hermes-mcp", { dist, server });
    const restarts = [];
    for (let round = 0; round < effort.spawns; round += 1) restarts.push(await alone.measure("restart", 1));
    const samples = { ...calls, ...fleet };
    return {
      microseconds: { ...inMicroseconds(samples), "mcp-restart-p95": one(percentile(restarts, 0.95)) },
      ratios: {
        ...ratios(samples, "mcp-call", ["bare-sdk", "bare-sdk-same-session"]),
        ...ratios(samples, "mcp-call-journal", ["bare-sdk"]),
        ...ratios(samples, "fleet-troubled", ["fleet-well"]),
      },
    };
  });
}

/** The slowest hundredth of the calls to 45 servers, with and without five others in trouble. */
async function measureFleet({ start, dist, effort }) {
  const well = await start("hermes-mcp", { dist, server, healthy: HEALTHY });
  const troubled = await start("hermes-mcp", { dist, server, healthy: HEALTHY, troubled: true });
  const count = effort.roundMs * 25;
  const samples = { "fleet-well": [], "fleet-troubled": [] };
  for (let round = 0; round < effort.rounds; round += 1) {
    samples["fleet-well"].push((await well.measure("slowestHundredth", count)) / count);
    samples["fleet-troubled"].push((await troubled.measure("slowestHundredth", count)) / count);
  }
  await well.stop();
  await troubled.stop();
  return samples;
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function one(nanoseconds) {
  const microseconds = Math.round(nanoseconds / 1e3);
  return { median: microseconds, min: microseconds, rounds: 1 };
}
