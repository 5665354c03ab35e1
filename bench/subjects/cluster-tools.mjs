// The same tools on the machine where sessions live and on its workers.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { echo, echoDescription, echoSchema } from "../echo.mjs";

export const WAIT_MS = 100;

export async function openRuntime({ dist, server, cluster = "bench", slots = 64 }) {
  const library = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const registry = new library.ToolRegistry();
  const parameters = { type: "object" };
  registry.register({
    name: "echo",
    toolset: "bench",
    schema: { description: echoDescription, parameters: echoSchema },
    handler: echo,
    effects: () => [],
  });
  registry.register({
    name: "count",
    toolset: "bench",
    schema: {
      description: "The same as a change of something, which is written down on disk before it begins",
      parameters: echoSchema,
    },
    handler: echo,
    effects: () => [{ action: "bench:count", resource: "counter", mode: "write" }],
  });
  registry.register({
    name: "wait",
    toolset: "bench",
    schema: { description: "Waits", parameters },
    handler: async () => {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      return "waited";
    },
    effects: () => [],
  });
  const runtime = await library.createRuntime({
    registry,
    home,
    cwd: home,
    systemDir: join(home, "system"),
    builtins: false,
    userTools: false,
    journal: true,
    flags: {
      "cluster.url": `nats://${server}`,
      "cluster.key": "of the bench",
      "cluster.name": cluster,
      "cluster.slots": slots,
    },
  });
  return {
    library,
    runtime,
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
