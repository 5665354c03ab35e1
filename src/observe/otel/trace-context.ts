import { randomBytes } from "node:crypto";

/** Where a span stands: W3C Trace Context. */
export interface SpanContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** What a `traceparent` header or TRACEPARENT says; undefined for anything that is none. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(text?.trim().toLowerCase() ?? "") ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId) || text?.startsWith("ff-") === true) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}
