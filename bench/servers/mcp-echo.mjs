// The smallest MCP server that can be: no SDK, one file, up in a few milliseconds. Words in `text` make it misbehave.
import { createInterface } from "node:readline";

const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const initialize = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "echo", version: "1" },
};
const answers = {
  initialize: () => initialize,
  ping: () => ({}),
  "tools/list": () => ({
    tools: [{ name: "echo", description: "Says it back", inputSchema, annotations: { readOnlyHint: true } }],
  }),
  "tools/call": ({ arguments: { text } }) => ({ content: [{ type: "text", text }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const words = method === "tools/call" ? params.arguments.text : "";
  if (words === "crash") process.exit(1);
  if (words === "hang") return;
  if (words === "flood") flood();
  const answer = answers[method];
  const body =
    answer === undefined
      ? { error: { code: -32601, message: "unknown method" } }
      : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
});

function flood() {
  const line = `${"complaint ".repeat(100)}\n`;
  for (let count = 0; count < 2_000; count += 1) process.stderr.write(line);
}
