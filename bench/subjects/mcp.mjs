// Client and server of the MCP SDK in one process, joined by its in-memory transport.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { assertEchoed, echo, echoArguments, echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { callOperations, oneByOne } from "../operations.mjs";

export async function open({ tools = 10 }) {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  for (const name of toolNames(tools)) {
    server.registerTool(
      name,
      { description: echoDescription, inputSchema: echoZodSchema(z).shape },
      async (args) => ({ content: [{ type: "text", text: JSON.stringify(await echo(args)) }] }),
    );
  }
  const client = new Client({ name: "bench-client", version: "1.0.0" });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  const call = (number) => client.callTool({ name: "echo", arguments: echoArguments(number) });
  assertEchoed("MCP SDK", JSON.parse((await call(7)).content[0].text));
  const list = async () => JSON.stringify((await client.listTools()).tools);
  return {
    operations: { ...callOperations(call), list: oneByOne(list) },
    close: () => client.close(),
  };
}
