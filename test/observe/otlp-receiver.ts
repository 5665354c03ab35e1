import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import protobuf from "protobufjs";
import { onTestEnd } from "../support/runtime.js";

/** The fields of opentelemetry-proto that a trace has. */
const TRACE_PROTO = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5;
  }
}
message ArrayValue { repeated AnyValue values = 1; }`;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface Receiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly resources: Readonly<Record<string, unknown>>[];
  readonly bodies: Buffer[];
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
}

/** A collector: takes both forms of OTLP over HTTP and refuses everything else. */
export async function startReceiver(): Promise<Receiver> {
  const type = protobuf.parse(TRACE_PROTO).root.lookupType("ExportTraceServiceRequest");
  const received: Omit<Receiver, "url"> = { spans: [], resources: [], bodies: [], requests: [] };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    received.bodies.push(body);
    received.requests.push({ path: request.url ?? "", headers: request.headers });
    const isJson = request.headers["content-type"] === "application/json";
    const message = isJson
      ? (JSON.parse(body.toString()) as ExportRequest)
      : (type.toObject(type.decode(body), { longs: String, bytes: Buffer, arrays: true }) as ExportRequest);
    for (const { resource, scopeSpans } of message.resourceSpans) {
      received.resources.push(attributesOf(resource.attributes));
      for (const { spans } of scopeSpans) received.spans.push(...spans.map(readSpan));
    }
    response
      .writeHead(200, { "content-type": request.headers["content-type"] ?? "" })
      .end(isJson ? "{}" : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...received };
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan {
  readonly traceId: string | Buffer;
  readonly spanId: string | Buffer;
  readonly parentSpanId?: string | Buffer;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

function readSpan(span: WireSpan): ReceivedSpan {
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    ...(span.parentSpanId !== undefined && { parentSpanId: hex(span.parentSpanId) }),
    name: span.name,
    kind: span.kind,
    ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
    attributes: attributesOf(span.attributes),
    status: span.status ?? {},
  };
}

function hex(id: string | Buffer): string {
  return typeof id === "string" ? id : id.toString("hex");
}

function attributesOf(list: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: Readonly<Record<string, unknown>>): unknown {
  if ("intValue" in value) return Number(value.intValue);
  if ("arrayValue" in value)
    return (value.arrayValue as { values: Readonly<Record<string, unknown>>[] }).values.map(readValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}
