import type { CallToolResult, StandardSchemaV1 } from "@modelcontextprotocol/client";
import type { Connection } from "./connect.js";
import type { DirectCall } from "./direct-calls.js";
import type { RunningCall } from "./running-call.js";

/** Whatever the server answers is read with care later; checking it here as well would cost as much as a small call. */
const AS_IT_IS: StandardSchemaV1<unknown, CallToolResult> = {
  "~standard": { version: 1, vendor: "hermes", validate: (value) => ({ value: value as CallToolResult }) },
};

export function callRemoteTool(
  { client, calls }: Connection,
  tool: DirectCall,
  call: RunningCall,
): Promise<CallToolResult> {
  if (calls !== undefined) return calls.call(tool, call);
  const params = { name: tool.name, arguments: tool.arguments };
  // In the newer protocol some parameters are sent as headers too, which only the SDK's own way does.
  if (client.getProtocolEra() === "modern") return client.callTool(params, call.requestOptions);
  return client.request({ method: "tools/call", params }, AS_IT_IS, call.requestOptions);
}
