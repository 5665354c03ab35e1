import { isRecord } from "../base/record.js";
import type { CallResult } from "../tool/call.js";
import type { Content } from "../tool/content.js";
import { failure } from "../tool/errors.js";
import type { Adapter, RawEntry } from "./adapter.js";
import { unreadable } from "./call-entry.js";
import { metadataOf, ownContent, structuredObject } from "./model-text.js";
import { kindOf, own } from "./wire-values.js";

/** One MCP `tools/call` request. With `jsonrpc` and an id the answer is a whole JSON-RPC response. */
export const mcp: Adapter = {
  format: "mcp",

  recognise(value) {
    if (!isRecord(value)) return undefined;
    const method = own(value, "method");
    if (method !== "tools/call") {
      return own(value, "jsonrpc") === undefined ? undefined : notACall(method);
    }
    const id = own(value, "id");
    const isRpc = own(value, "jsonrpc") !== undefined && (typeof id === "string" || typeof id === "number");
    return { format: "mcp", entries: [value], read: readCall, ...(isRpc ? { rpcId: id } : {}) };
  },

  encode(answers, request) {
    const results = answers.map(({ result }) => mcpResult(result));
    const only = results[0];
    if (request.rpcId === undefined || only === undefined) return results.length > 1 ? results : only;
    return { jsonrpc: "2.0", id: request.rpcId, result: only };
  },

  define(definitions) {
    return definitions.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: parameters,
    }));
  },
};

function readCall(message: unknown): RawEntry {
  const id = own(message, "id");
  const params = own(message, "params");
  if (!isRecord(params)) {
    const problem = `has ${kindOf(params)} as params; it must be an object with name and arguments`;
    return { ...unreadable(message, problem), id };
  }
  return {
    id,
    name: own(params, "name"),
    // Optional in the protocol: a tool without parameters is called without the key.
    arguments: Object.hasOwn(params, "arguments") ? own(params, "arguments") : {},
    source: message,
  };
}

function notACall(method: unknown) {
  const got = typeof method === "string" ? `"${method.slice(0, 60)}"` : kindOf(method);
  return failure(
    "bad_request",
    `Only the JSON-RPC method "tools/call" carries tool_calls; the request has ${got}.`,
    'Send {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"…","arguments":{…}}}.',
  );
}

/** The `CallToolResult` of MCP, for one call. */
export function mcpResult(result: CallResult) {
  const structured = structuredObject(result);
  return {
    // The text beside `structuredContent` is the same object: its status stands in `_meta`.
    content: ownContent(result).map(mcpContent),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    isError: !result.ok,
    // The one place of this protocol for what is no content; a tool's output schema need not know of it.
    _meta: {
      "hermes-tools/status": result.ok ? "success" : "error",
      "hermes-tools/duration_ms": result.duration_ms,
      "hermes-tools/metadata": metadataOf(result),
      ...(result.error !== undefined && { "hermes-tools/error_code": result.error.code }),
    },
  };
}

function mcpContent(part: Content) {
  if (part.type !== "resource") return part;
  const { uri, mimeType, text } = part;
  const typed = mimeType === undefined ? {} : { mimeType };
  // An embedded resource must carry its body; without one it can only be linked to.
  return text === undefined
    ? { type: "resource_link", uri, name: uri, ...typed }
    : { type: "resource", resource: { uri, ...typed, text } };
}
