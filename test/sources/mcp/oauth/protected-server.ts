import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import type { AuthorizationServer } from "./authorization-server.js";
import { authorizationServer } from "./world.js";

/** A real MCP server that nobody reaches without a token. */
export async function protectedServer(): Promise<AuthorizationServer> {
  const { fetch: answer } = createMcpHandler(() => {
    const mcp = new McpServer({ name: "shop", version: "1" });
    const inputSchema = fromJsonSchema({ type: "object", properties: {} });
    mcp.registerTool("buy", { description: "Buys.", inputSchema }, async () => ({
      content: [{ type: "text", text: "bought" }],
    }));
    return mcp;
  });
  const server = await authorizationServer({
    resource: async (request, response, body) => {
      const headers = Object.entries(request.headers).map(
        ([name, value]) => [name, String(value)] as [string, string],
      );
      const sent = new Request(server.url, {
        method: request.method ?? "GET",
        headers,
        ...(body.length > 0 && { body }),
      });
      const answered = await answer(sent);
      response.writeHead(answered.status, Object.fromEntries(answered.headers));
      response.end(Buffer.from(await answered.arrayBuffer()));
    },
  });
  return server;
}
