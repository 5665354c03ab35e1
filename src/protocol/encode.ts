import type { CallResult, IncomingCall } from "../tool/call.js";
import { failure } from "../tool/errors.js";
import type { ToolSchema } from "../tool/tool.js";
import type { Adapter, ParsedRequest, WireFormat } from "./adapter.js";
import { anthropic } from "./anthropic.js";
import { envelope } from "./envelope.js";
import { gemini } from "./gemini.js";
import { mcp } from "./mcp.js";
import { openai } from "./openai.js";
import { responses } from "./responses.js";

const ADAPTERS: Readonly<Record<WireFormat, Adapter>> = {
  envelope,
  openai,
  responses,
  anthropic,
  gemini,
  mcp,
};

/**
 * The answer in the format the request came in: one result per call, in the order of the calls. Results are
 * found by the id of their call and may come in any order; a call without one is answered with an error.
 */
export function encodeResults(request: ParsedRequest, results: readonly CallResult[]): unknown {
  const byId = new Map<string, CallResult>();
  for (const result of results) if (!byId.has(result.id)) byId.set(result.id, result);
  const answers = request.calls.map((call, index) => ({
    id: wireId(request, index),
    idWasGiven: request.givenIds[index] !== undefined,
    name: call.name,
    result: byId.get(call.id) ?? unanswered(call),
  }));
  return ADAPTERS[request.format].encode(answers, request);
}

/** The id under which the sender knows the call at `index`: its own, or the one made up for it. */
export function wireId(request: ParsedRequest, index: number): string {
  return request.givenIds[index] ?? request.calls[index]?.id ?? "";
}

/** Tool definitions as a provider wants them: a list, or for Gemini one object that holds it. */
export function encodeDefinitions(
  definitions: readonly ToolSchema[],
  format: WireFormat = "openai",
): unknown {
  return ADAPTERS[format].define(definitions);
}

function unanswered(call: IncomingCall): CallResult {
  const error = call.malformed ?? failure("internal", "The call ended without a result.");
  return {
    id: call.id,
    name: call.name,
    called_as: call.name,
    ok: false,
    state: call.malformed === undefined ? "partial" : "not_started",
    content: [],
    human: error.message,
    error,
    duration_ms: 0,
    environment: "",
    truncated: false,
  };
}
