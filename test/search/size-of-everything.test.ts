import { describe, expect, it } from "vitest";
import { builtinManifest } from "../../src/registry/builtin-manifest.gen.js";
import type { ToolDefinition } from "../../src/registry/entry.js";
import { estimateTokens } from "../../src/search/assemble.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const SERVER_TOOLS = 200;
/** Built-in tools that this machine has no program for are part of the bill elsewhere. */
const BUILTINS_AT_LEAST = 60;

/** As large as those of public servers (everything, filesystem, memory): about 140 tokens each. */
function serverTool(number: number): AnyTool {
  return {
    name: `mcp_office_${number}`,
    description: `Look up, change and report on the records of department ${number}: who keeps them, since when, with which remarks, and what is still to be done about them before the end of the month.`,
    toolset: "mcp-office",
    permissions: ["mcp:office"],
    parameters: {
      type: "object",
      properties: {
        record: { type: "string", description: "Number of the record, as it is written on its cover" },
        since: { type: "string", description: "Earliest day, ISO 8601" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      },
      required: ["record"],
    },
    handler: () => "",
  } as unknown as AnyTool;
}

describe("the tools array with every built-in tool and 200 tools of servers", () => {
  it("is at least 85 % smaller with Tool Search, which comes on by itself", async () => {
    const { runtime, registry } = await testRuntime([], {
      builtins: true,
      env: {
        PATH: process.env.PATH,
        OPENAI_API_KEY: "k",
        FAL_KEY: "k",
        HASS_TOKEN: "k",
        HONCHO_API_KEY: "k",
        ELEVENLABS_API_KEY: "k",
      },
      flags: { "email.smtp_url": "smtp://127.0.0.1:2525", "rl.command": "python train.py" },
    });
    registry.swap({
      source: "mcp:office",
      provenance: { kind: "mcp", source: "office" },
      tools: Array.from({ length: SERVER_TOOLS }, (_, number) => serverTool(number)),
    });
    const whole = await runtime.getToolDefinitions({ quiet: true, toolSearch: false });
    const sent = await runtime.getToolDefinitions({ quiet: true });
    const builtins = whole.length - SERVER_TOOLS;
    console.log(
      `${builtins} of ${builtinManifest.length} built-in and ${SERVER_TOOLS} server tools: ${tokens(whole)} tokens, with Tool Search ${sent.length} tools, ${tokens(sent)} tokens`,
    );
    expect(builtins).toBeGreaterThanOrEqual(BUILTINS_AT_LEAST);
    expect(tokens(sent) / tokens(whole)).toBeLessThanOrEqual(0.15);
  });
});

function tokens(definitions: readonly ToolDefinition[]): number {
  return definitions.reduce((sum, definition) => sum + estimateTokens(definition), 0);
}
