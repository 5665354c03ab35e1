// A server of the newer protocol (2026-07-28), made with the official SDK: tools that ask, change and structure.
import { fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const nothing = fromJsonSchema({ type: "object", properties: {} });
const question = {
  mode: "form",
  message: "Which colour?",
  requestedSchema: {
    type: "object",
    properties: { colour: { type: "string", enum: ["red", "blue"] }, sure: { type: "boolean" } },
    required: ["colour"],
  },
};

serveStdio(() => {
  const server = new McpServer(
    { name: "modern", version: "2" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool(
    "colour",
    { description: "Asks for a colour", inputSchema: nothing },
    async (_args, ctx) => {
      const answer = ctx.mcpReq.inputResponses?.colour;
      if (answer === undefined)
        return inputRequired({ inputRequests: { colour: inputRequired.elicit(question) } });
      return { content: [{ type: "text", text: JSON.stringify(answer) }] };
    },
  );
  server.registerTool(
    "measure",
    {
      description: "Gives numbers",
      inputSchema: nothing,
      outputSchema: fromJsonSchema({
        type: "object",
        properties: { value: { type: "number" } },
        required: ["value"],
      }),
    },
    async () => ({ content: [], structuredContent: { value: 42 } }),
  );
  server.registerTool(
    "meta",
    { description: "Tells its _meta", inputSchema: nothing },
    async (_args, ctx) => ({
      content: [{ type: "text", text: JSON.stringify(ctx.mcpReq._meta) }],
    }),
  );
  server.registerTool("grow", { description: "Adds a tool", inputSchema: nothing }, async () => {
    server.registerTool("new_one", { description: "Was not there", inputSchema: nothing }, async () => ({
      content: [{ type: "text", text: "new" }],
    }));
    return { content: [{ type: "text", text: "grown" }] };
  });
  return server;
});
