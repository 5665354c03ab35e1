import type { CallToolResult, Client, RequestOptions, StandardSchemaV1 } from "@modelcontextprotocol/client";

/** Whatever the server answers is read with care later; checking it here as well would cost as much as a small call. */
const AS_IT_IS: StandardSchemaV1<unknown, CallToolResult> = {
  "~standard": { version: 1, vendor: "hermes", validate: (value) => ({ value: value as CallToolResult }) },
};

export function callRemoteTool(
  client: Client,
  params: { readonly name: string; readonly arguments: Record<string, unknown> },
  options: RequestOptions,
): Promise<CallToolResult> {
  // In the newer protocol some parameters are sent as headers too, which only the SDK's own way does.
  if (client.getProtocolEra() === "modern") return client.callTool(params, options);
  return client.request({ method: "tools/call", params }, AS_IT_IS, options);
}
