import type { Attributes, SpanBatch, SpanData } from "./spans.js";

/** An ExportTraceServiceRequest in the JSON form of OTLP: ids as hex, 64-bit numbers as text. */
export function traceJson({ resource, spans }: SpanBatch): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesJson(resource) },
        scopeSpans: [{ scope: { name: "hermes-tools" }, spans: spans.map(spanJson) }],
      },
    ],
  });
}

function spanJson(span: SpanData) {
  return {
    traceId: span.context.traceId,
    spanId: span.context.spanId,
    ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: span.kind === "client" ? 3 : 1,
    startTimeUnixNano: String(nanoseconds(span.startedAt)),
    endTimeUnixNano: String(nanoseconds(span.endedAt)),
    attributes: attributesJson(span.attributes),
    status: span.error === undefined ? {} : { code: 2, message: span.error },
  };
}

export function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}

function attributesJson(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: Attributes[string]): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return { arrayValue: { values: value.map(valueJson) } };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
