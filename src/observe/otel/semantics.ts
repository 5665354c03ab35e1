import type { CallRecord } from "../../call/call-record.js";
import type { ModelFinished } from "../events.js";
import type { Attributes, SpanData } from "./spans.js";

/**
 * The one place that knows the names of OpenTelemetry's GenAI conventions: they still change. What a call was given and
 * what it answered is told only with `content`.
 */
export function toolSpan(
  call: CallRecord,
  content: { readonly arguments: string; readonly result: string } | undefined,
): Pick<SpanData, "name" | "kind" | "attributes" | "error"> {
  const { scope, error, usage } = call;
  return {
    name: `execute_tool ${scope.services.redact(call.name)}`,
    kind: "internal",
    attributes: present({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": scope.services.redact(call.name),
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": scope.services.redact(call.id),
      "gen_ai.conversation.id": scope.info.id,
      "gen_ai.request.model": scope.model,
      "gen_ai.usage.input_tokens": usage && usage.input + usage.cached + usage.cacheWrite,
      "gen_ai.usage.output_tokens": usage?.output,
      "gen_ai.tool.call.arguments": content?.arguments,
      "gen_ai.tool.call.result": content?.result,
      "error.type": error?.code,
      "hermes.toolset": call.entry?.toolset,
      "hermes.door": scope.door,
      "hermes.environment": scope.environment.name,
      "hermes.decision": call.decided,
      "hermes.state": call.state,
      "hermes.queued_ms": call.queuedMs,
      "hermes.approval_wait_ms": call.approvalWaitMs,
    }),
    // The words of an error can quote arguments.
    error: error === undefined ? undefined : content === undefined ? error.code : error.message,
  };
}

export function chatSpan(event: ModelFinished): Pick<SpanData, "name" | "kind" | "attributes" | "error"> {
  const { usage, error } = event;
  return {
    name: `chat ${event.model}`,
    kind: "client",
    attributes: present({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": event.model,
      "gen_ai.response.model": event.answered_by,
      "gen_ai.response.finish_reasons": event.reason === undefined ? undefined : [event.reason],
      "gen_ai.conversation.id": event.session,
      // The conventions count all of the input here, and name its parts beside it.
      "gen_ai.usage.input_tokens": usage?.inputTokens,
      "gen_ai.usage.output_tokens": usage?.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage?.cachedTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
      "error.type": error,
      "hermes.conversation": event.conversation,
      "hermes.purpose": event.purpose,
    }),
    error,
  };
}

function present(attributes: Readonly<Record<string, Attributes[string] | undefined>>): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
