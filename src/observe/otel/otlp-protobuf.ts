import { nanoseconds } from "./otlp-json.js";
import type { Attributes, SpanBatch, SpanData } from "./spans.js";

/**
 * The same in protobuf, by hand: five kinds of fields are all of it. The numbers are those of
 * opentelemetry-proto/trace/v1/trace.proto, common.proto and resource.proto.
 */
export function traceProtobuf({ resource, spans }: SpanBatch): Buffer {
  const scope = text(1, "hermes-tools");
  const scopeSpans = [message(1, [scope]), ...spans.map((span) => message(2, spanFields(span)))];
  return Buffer.concat([message(1, [message(1, attributeFields(1, resource)), message(2, scopeSpans)])]);
}

function spanFields(span: SpanData): readonly Buffer[] {
  const { context, parentSpanId, error } = span;
  return [
    bytes(1, Buffer.from(context.traceId, "hex")),
    bytes(2, Buffer.from(context.spanId, "hex")),
    ...(parentSpanId === undefined ? [] : [bytes(4, Buffer.from(parentSpanId, "hex"))]),
    text(5, span.name),
    integer(6, span.kind === "client" ? 3n : 1n),
    fixed64(7, nanoseconds(span.startedAt)),
    fixed64(8, nanoseconds(span.endedAt)),
    ...attributeFields(9, span.attributes),
    ...(error === undefined ? [] : [message(15, [text(2, error), integer(3, 2n)])]),
  ];
}

function attributeFields(field: number, attributes: Attributes): readonly Buffer[] {
  return Object.entries(attributes).map(([key, value]) =>
    message(field, [text(1, key), message(2, [anyValue(value)])]),
  );
}

function anyValue(value: Attributes[string]): Buffer {
  if (typeof value === "string") return text(1, value);
  if (typeof value === "boolean") return integer(2, value ? 1n : 0n);
  if (typeof value !== "number")
    return message(
      5,
      value.map((item) => message(1, [anyValue(item)])),
    );
  return Number.isInteger(value) ? integer(3, BigInt(value)) : double(4, value);
}

function varint(value: bigint): Buffer {
  const out: number[] = [];
  let left = BigInt.asUintN(64, value);
  while (left > 127n) {
    out.push(Number(left & 127n) | 128);
    left >>= 7n;
  }
  out.push(Number(left));
  return Buffer.from(out);
}

function head(field: number, wire: number): Buffer {
  return varint(BigInt((field << 3) | wire));
}

function integer(field: number, value: bigint): Buffer {
  return Buffer.concat([head(field, 0), varint(value)]);
}

function fixed64(field: number, value: bigint): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(value);
  return Buffer.concat([head(field, 1), number]);
}

function double(field: number, value: number): Buffer {
  const number = Buffer.alloc(8);
  number.writeDoubleLE(value);
  return Buffer.concat([head(field, 1), number]);
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([head(field, 2), varint(BigInt(value.length)), value]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function message(field: number, fields: readonly Buffer[]): Buffer {
  return bytes(field, Buffer.concat(fields));
}
