// What a call through `hermes mcp serve` costs, beside a server of the bare SDK with the same tool.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inMicroseconds, ratios } from "../statistics.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

const TOOL = `import { registry } from "hermes-tools";
registry.register({
  name: "bench_echo",
  toolset: "bench",
  schema: {
    description: "Gives back its text.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  handler: ({ text }) => text,
});
`;

const BARE = `
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
serveStdio(() => {
  const server = new McpServer({ name: "bare", version: "1" });
  const inputSchema = fromJsonSchema({ type: "object", properties: { text: { type: "string" } }, required: ["text"] });
  server.registerTool("bench_echo", { description: "Gives back its text.", inputSchema }, async ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
});
`;

export async function measureMcpServer({ dist, effort }) {
  const home = await mkdtemp(join(tmpdir(), "hermes-bench-"));
  const clients = [];
  try {
    await mkdir(join(home, "tools"));
    await writeFile(join(home, "tools", "bench_echo.mjs"), TOOL);
    const env = { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: home };
    const main = join(dist, "cli", "main.js");
    const ours = { args: [main, "mcp", "serve", "--toolsets", "bench_echo"], env, cwd: home };
    const contestants = {
      "mcp-bare": { args: ["--input-type=module", "--eval", BARE], env, cwd: root },
      "mcp-serve": { ...ours, env: { ...env, HERMES_JOURNAL_ENABLED: "false" } },
      "mcp-serve-journal": ours,
    };
    const samples = {};
    const connected = {};
    for (const [id, contestant] of Object.entries(contestants)) {
      connected[id] = await connect(contestant);
      clients.push(connected[id]);
      samples[id] = [];
    }
    for (let round = -1; round < effort.rounds; round += 1) {
      for (const [id, client] of Object.entries(connected)) {
        const nanoseconds = await oneCall(client, 200);
        if (round >= 0) samples[id].push(nanoseconds);
      }
    }
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "mcp-serve", ["mcp-bare"]),
        ...ratios(samples, "mcp-serve-journal", ["mcp-bare"]),
      },
    };
  } finally {
    for (const client of clients) await client.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function connect({ args, env, cwd }) {
  const [{ Client }, { StdioClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/stdio"),
  ]);
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd }));
  return client;
}

async function oneCall(client, times) {
  const started = process.hrtime.bigint();
  for (let call = 0; call < times; call += 1) {
    const { isError } = await client.callTool({ name: "bench_echo", arguments: { text: "hello" } });
    if (isError) throw new Error("the call failed");
  }
  return Number(process.hrtime.bigint() - started) / times;
}
