// The product as a client of MCP servers: tools of many servers, called through the whole path.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { oneByOne } from "../operations.mjs";

const LANES = 4;
const TROUBLE = ["crash", "crash", "hang", "hang", "flood"];
const TROUBLE_EVERY_MS = 1_000;

/**
 * `server`: the program. `healthy`: how many of it are called. `troubled`: whether five more hang, crash and flood
 * meanwhile.
 */
export async function open({ dist, server, journal = false, healthy = 1, troubled = false }) {
  const { createRuntime, ToolRegistry } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const entry = { command: process.execPath, args: [server] };
  const names = Array.from({ length: healthy }, (_, number) => `s${number}`);
  const bad = troubled ? TROUBLE.map((_word, number) => `bad${number}`) : [];
  const servers = {
    ...Object.fromEntries(names.map((name) => [name, entry])),
    ...Object.fromEntries(bad.map((name) => [name, { ...entry, timeout: 0.5 }])),
  };
  writeFileSync(
    join(home, "config.yaml"),
    JSON.stringify({ mcp_servers: servers, log: { level: "silent" } }),
  );
  const runtime = await createRuntime({
    registry: new ToolRegistry(),
    home,
    cwd: home,
    systemDir: join(home, "system"),
    builtins: false,
    journal,
  });
  await runtime.sources.settled();
  const session = await runtime.openSession();
  const call = async (name, text) => {
    const result = await session.call({ name: `mcp_${name}_echo`, arguments: { text } });
    // A model is told besides who wrote it.
    if (!result.ok || result.human !== text) throw new Error(`hermes gave ${JSON.stringify(result)}`);
  };
  for (const name of names) await call(name, "warm");
  const stopTrouble = keepTroubling({ session, bad });

  return {
    operations: {
      oneByOne: oneByOne((number) => call("s0", `number ${number}`)),
      slowestHundredth: slowestHundredth((number) => call(names[number % healthy], `number ${number}`)),
      restart: async (count) => {
        let elapsed = 0;
        for (let done = 0; done < count; done += 1) {
          const started = performance.now();
          await session.call({ name: "mcp_s0_echo", arguments: { text: "crash" } });
          await call("s0", "back");
          elapsed += performance.now() - started;
        }
        return elapsed * 1e6;
      },
    },
    async close() {
      await stopTrouble();
      session.close();
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Calls the bad servers again and again, each in its own way. */
function keepTroubling({ session, bad }) {
  let isOver = false;
  const lanes = bad.map(async (name, number) => {
    while (!isOver) {
      await session.call({ name: `mcp_${name}_echo`, arguments: { text: TROUBLE[number] } });
      await delay(TROUBLE_EVERY_MS);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(lanes);
  };
}

/** How long the slowest call of a hundred takes, as if each had taken so long. */
function slowestHundredth(call) {
  let number = 0;
  return async (count) => {
    const took = [];
    const lane = async () => {
      while (took.length < count) {
        const started = performance.now();
        await call(number++);
        took.push(performance.now() - started);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    took.sort((a, b) => a - b);
    return took[Math.floor(took.length * 0.99)] * 1e6 * count;
  };
}
