import type { CallRecord } from "./call-record.js";
import { copyOf, type PostToolCall } from "./hooks.js";
import { redactContent, replaceText, textOfCall } from "./settle.js";

/** False for most calls: then nothing has to be waited for. */
export function wantsAfterHooks({ entry, scope }: CallRecord): boolean {
  const { hooks } = scope.services;
  return (
    entry !== undefined &&
    (scope.guardrails.mode !== "off" || hooks.has("post_tool_call") || hooks.has("transform_tool_result"))
  );
}

/** Loop notices, then observers, then a possible replacement of the text, masked like any other result. */
export async function afterHooks(call: CallRecord): Promise<void> {
  watchForLoops(call);
  const { hooks } = call.scope.services;
  if (!(hooks.has("post_tool_call") || hooks.has("transform_tool_result"))) return;
  const event: PostToolCall = {
    tool: call.entry.name,
    args: copyOf(call.args),
    callId: call.id,
    session: call.scope.info,
    result: copyOf(call.toResult()),
    status: hookStatus(call),
  };
  await hooks.observe(event);
  const replacement = await hooks.transform(event, textOfCall(call));
  if (replacement === undefined) return;
  replaceText(call, replacement);
  redactContent(call);
}

function watchForLoops(call: CallRecord): void {
  const { guardrails } = call.scope;
  const code = call.error?.code;
  // What the guardrails themselves refused, or the person stopped, is no further failure of the tool.
  if (guardrails.mode === "off" || call.entry === undefined || code === "over_budget" || code === "cancelled")
    return;
  const { notices, stub } = guardrails.after({
    tool: call.entry.name,
    args: call.args,
    callId: call.id,
    idempotent: call.entry.idempotent === true,
    tolerant: call.entry.tolerant === true,
    ok: call.ok,
    text: textOfCall(call),
  });
  if (stub !== undefined) replaceText(call, stub);
  if (notices.length > 0) call.notices = [...call.notices, ...notices];
}

function hookStatus(call: CallRecord): PostToolCall["status"] {
  if (call.ok) return "ok";
  const code = call.error?.code;
  if (code === "cancelled") return "cancelled";
  return code === "blocked" || code === "denied" ? "blocked" : "error";
}
