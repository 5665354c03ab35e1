import type { Socket } from "node:net";
import type { Effect } from "../tool/effects.js";
import { ToolError } from "../tool/errors.js";
import type { ConnectRequest, FetchRequest, FetchResponse, ProxyRequest } from "../tool/fetch.js";
import type { CallContext, Progress } from "../tool/tool.js";
import type { CallRecord } from "./call-record.js";

/** A request with what the call it belongs to says about it; the runtime brings the client. */
export interface CallFetch extends FetchRequest {
  refusal(url: string): string | undefined;
  progress(update: Progress): void;
}

/** What was declared before the call ran has been judged; every other address is judged now, redirects too. */
export async function fetchInCall(
  call: CallRecord,
  context: CallContext,
  request: FetchRequest,
): Promise<FetchResponse> {
  const { effects, scope } = call;
  if ((request.retry ?? 0) > 0) call.retries += 1;
  const refusal = (url: string) => context.refusal(effectOf(url, request.method));
  const { mode } = effectOf(request.url, request.method);
  // Who said that it only reads has not been asked about sending something there.
  const isDeclared =
    request.configured === true ||
    effects.some(
      (effect) => isSameAddress(effect.resource, request.url) && (mode === "read" || effect.mode !== "read"),
    );
  const unwanted = isDeclared ? undefined : refusal(request.url);
  if (unwanted !== undefined) {
    throw new ToolError(`This call may not fetch ${JSON.stringify(request.url)}: ${unwanted}.`, {
      code: "denied",
      hint: "Ask for an address that the permissions allow.",
    });
  }
  return scope.services.fetch({
    ...request,
    ...(call.trace !== undefined && { headers: { traceparent: call.trace, ...request.headers } }),
    signal: request.signal === undefined ? context.signal : AbortSignal.any([context.signal, request.signal]),
    refusal,
    progress: (update) => context.progress(update),
  });
}

/** A proxy outlives its call; what passes through it is judged as if that call asked. */
export interface CallProxy extends ProxyRequest {
  refusal(url: string): string | undefined;
}

/** What the connection is for was declared by the effects of the call; where it leads is judged by the operator's rules. */
/** Less than a handler has that was told to stop. */
const STOPPING_MS = 4_000;

export async function connectInCall(
  { scope }: CallRecord,
  context: CallContext,
  request: ConnectRequest,
): Promise<Socket> {
  const ends = request.toStop === true ? AbortSignal.timeout(STOPPING_MS) : context.signal;
  return scope.services.connect({
    ...request,
    signal: request.signal === undefined ? ends : AbortSignal.any([ends, request.signal]),
  });
}

function effectOf(url: string, method = "GET"): Effect {
  return ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"].includes(method)
    ? { action: "network:fetch", resource: url, mode: "read" }
    : { action: "network:write", resource: url, mode: "write" };
}

/** Up to the query: credentials may be added to it that no effect shows. */
function isSameAddress(declared: string, url: string): boolean {
  return declared.split(/[?#]/, 1)[0] === url.split(/[?#]/, 1)[0];
}
