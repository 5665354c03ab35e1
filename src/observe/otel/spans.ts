import type { SpanContext } from "./trace-context.js";

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A span that is over. */
export interface SpanData {
  readonly name: string;
  readonly kind: "internal" | "client";
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Set when it failed: why. */
  readonly error: string | undefined;
}

export interface SpanBatch {
  readonly resource: Attributes;
  readonly spans: readonly SpanData[];
}
