import type { ParsedRequest } from "../../src/protocol/index.js";
import type { CallResult, IncomingCall } from "../../src/tool/call.js";
import type { Failure } from "../../src/tool/errors.js";

export function resultOf(call: IncomingCall, fields: Partial<CallResult> = {}): CallResult {
  const outcome: Partial<CallResult> =
    call.malformed === undefined
      ? { ok: true, content: [{ type: "text", text: `result of ${call.id}` }] }
      : { ok: false, content: [], error: call.malformed };
  return {
    id: call.id,
    name: call.name,
    called_as: call.name,
    ok: true,
    state: "done",
    content: [],
    human: "",
    duration_ms: 1,
    environment: "local",
    truncated: false,
    ...outcome,
    ...fields,
  };
}

export function parsed(request: ParsedRequest | Failure): ParsedRequest {
  if ("calls" in request) return request;
  throw new Error(`not parsed: ${request.message}`);
}

export function refused(request: ParsedRequest | Failure): Failure {
  if ("code" in request) return request;
  throw new Error(`parsed as ${request.format} with ${request.calls.length} calls`);
}
