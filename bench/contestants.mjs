// Everything that can be measured, by the name used in results, tables and pictures.

/** Peers, by subject; the package that must be installed for them. */
export const PEERS = {
  "openai-agents": { package: "@openai/agents", label: "@openai/agents, tool invoke" },
  langchain: { package: "@langchain/core", label: "LangChain, tool invoke" },
  mastra: { package: "@mastra/core", label: "Mastra, tool execute" },
  mcp: { package: "@modelcontextprotocol/sdk", label: "MCP SDK in memory, callTool" },
  "ai-sdk": { package: "ai", label: "AI SDK, generateText step with a mock model" },
};

/** Parts in the order they run. */
export const PARTS = [
  "calls",
  "journal",
  "stats",
  "telemetry",
  "scale",
  "parallel",
  "cold",
  "verdicts",
  "terminal",
  "memory-spawn",
  "output",
  "pty",
  "ssh-exec",
  "docker-exec",
  "read-lines",
  "search",
  "fuzzy",
  "write-file",
  "execute-code",
  "quickjs",
  "mcp-client",
  "mcp-server",
  "http-load",
  "events",
  "cluster",
  "dashboard",
  "tool-search",
  "tools-array",
  "pdf-extract",
  "link-checker",
  "browser",
  "session-search",
  "agent-loop",
  "first-token",
  "prompt-prefix",
  "agent-sessions",
];

/** How much to measure: a real run, or just enough to see that everything works. */
export const EFFORT = {
  full: {
    rounds: 15,
    roundMs: 80,
    warmCalls: 4_000,
    spawns: 21,
    slowSpawns: 5,
    sizes: [10, 100, 1_000, 10_000],
    outputBytes: 1e8,
    largeMegabytes: 1_024,
  },
  quick: {
    rounds: 3,
    roundMs: 5,
    warmCalls: 20,
    spawns: 2,
    slowSpawns: 1,
    sizes: [10, 100],
    outputBytes: 1e6,
    largeMegabytes: 64,
  },
};
