// What Tool Search saves: the tools array of a session with 200 tools of servers, with it and without.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeCatalogue } from "../tool-search/catalogue.mjs";

const TOOLS = 200;
const CHARS_PER_TOKEN = 4;
/** What a definition of the public servers on npm (everything, filesystem, memory, sequential-thinking) takes. */
const PUBLIC_TOOL_TOKENS = 140;

export async function measureToolsArray({ dist }) {
  const { createRuntime, ToolRegistry } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const registry = new ToolRegistry();
  registry.swap({
    source: "mcp:bench",
    provenance: { kind: "mcp", source: "bench" },
    tools: makeCatalogue({ size: TOOLS, seed: 20_261_115 }).map((tool) => ({
      ...tool,
      name: `mcp_bench_${tool.name}`.slice(0, 64),
      toolset: "mcp-bench",
      permissions: ["mcp:bench"],
      handler: () => "",
    })),
  });
  const runtime = await createRuntime({ home, registry, journal: false });
  try {
    const whole = tokens(await runtime.getToolDefinitions({ quiet: true, toolSearch: false }));
    const sent = tokens(await runtime.getToolDefinitions({ quiet: true }));
    const builtins = (await runtime.getToolDefinitions({ quiet: true, toolSearch: false })).filter(
      (definition) => !definition.function.name.startsWith("mcp_"),
    );
    const own = tokens(builtins);
    return {
      tokens: { whole, sent, builtins: own },
      ratios: {
        "with-search / without": same(sent / whole),
        "with-search / without, tools as large as public ones": same(
          sent / (own + TOOLS * PUBLIC_TOOL_TOKENS),
        ),
        "with-search / without, servers' tools only": same((sent - own) / (whole - own)),
      },
    };
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function tokens(definitions) {
  return definitions.reduce(
    (sum, definition) => sum + Math.ceil(JSON.stringify(definition).length / CHARS_PER_TOKEN),
    0,
  );
}

/** Counted, not timed: there is nothing to repeat. */
function same(value) {
  const rounded = Number(value.toPrecision(3));
  return { paired: rounded, best: rounded };
}
