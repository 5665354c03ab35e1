import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeResults,
  type ParsedRequest,
  parseRequest,
  parseRequestText,
  wireId,
} from "../../src/protocol/index.js";
import type { IncomingCall } from "../../src/tool/call.js";
import type { Failure } from "../../src/tool/errors.js";
import { resultOf } from "./fake-results.js";

type Encoded = Record<string, never> & { [key: string]: unknown };

/** The ids (or, without ids, the names) of an encoded answer, in its order. */
function links(request: ParsedRequest, encoded: unknown): unknown[] {
  const at = (value: unknown, key: string): unknown => (value as Encoded)[key];
  const each = (list: unknown, key: string) => (list as unknown[]).map((item) => at(item, key));
  switch (request.format) {
    case "envelope":
      return each(at(encoded, "tool_results"), "tool_call_id");
    case "openai":
      return each(encoded, "tool_call_id");
    case "responses":
      return each(encoded, "call_id");
    case "anthropic":
      return each(at(encoded, "content"), "tool_use_id");
    case "gemini":
      return each(each(at(encoded, "parts"), "functionResponse"), "name");
    case "mcp":
      return [request.calls[0]?.id];
  }
}

function expectOneAnswerPerCall(request: ParsedRequest | Failure): void {
  if (!("calls" in request)) {
    expect(request.code).toBe("bad_request");
    expect(request.message).not.toBe("");
    return;
  }
  expect(new Set(request.calls.map((call) => call.id)).size).toBe(request.calls.length);
  const results = request.calls.map((call) => resultOf(call));
  const encoded = encodeResults(request, results.toReversed());
  const expected = request.calls.map((call, index) =>
    request.format === "gemini" ? call.name : wireId(request, index),
  );
  expect(links(request, encoded)).toEqual(expected);
  expect(() => JSON.stringify(encoded)).not.toThrow();
}

interface SampleRow {
  readonly id: string;
  readonly note: string;
  readonly request?: unknown;
  readonly request_text?: string | { readonly repeat?: readonly [string, number][] };
  readonly expect: { readonly outcome: string; readonly error_has?: readonly string[] };
}

const samples = readFileSync(new URL("../fixtures/protocol/toolcalls.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as SampleRow);

function readSample(row: SampleRow): ParsedRequest | Failure {
  const { request_text: text } = row;
  if (text === undefined) return parseRequest(row.request);
  return parseRequestText(
    typeof text === "string" ? text : (text.repeat ?? []).map(([part, times]) => part.repeat(times)).join(""),
  );
}

describe("samples of odd requests", () => {
  it.each(samples)("$id: $note", (row) => {
    const read = readSample(row);
    expectOneAnswerPerCall(read);
    const calls: readonly IncomingCall[] = "calls" in read ? read.calls : [];
    if (row.expect.outcome === "ok") {
      expect(calls).toHaveLength(1);
      expect(calls[0]?.malformed).toBeUndefined();
      return;
    }
    // Faults inside the arguments are for decode; what is refused here must say why.
    const message = "calls" in read ? calls[0]?.malformed?.message : read.message;
    for (const word of message === undefined ? [] : (row.expect.error_has ?? []))
      expect(message).toContain(word);
  });

  it("those that no tool could make sense of are refused here", () => {
    const refusedHere = samples.filter((row) => {
      const read = readSample(row);
      return !("calls" in read) || read.calls.some((call) => call.malformed !== undefined);
    });
    expect(refusedHere.map((row) => row.id)).toEqual(["t022", "t024", "t026", "t151", "t165"]);
  });
});

const WIRE_KEYS = [
  "tool_calls",
  "role",
  "content",
  "choices",
  "message",
  "output",
  "parts",
  "candidates",
  "functionCall",
  "function",
  "name",
  "arguments",
  "input",
  "args",
  "id",
  "call_id",
  "type",
  "method",
  "params",
  "jsonrpc",
  "__proto__",
  "constructor",
];
const WIRE_TEXTS = [
  "assistant",
  "model",
  "tool_use",
  "function_call",
  "function",
  "tools/call",
  "now",
  "a",
  "",
  "2.0",
];

const { value: wireLike } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, 0, -1.5, ...WIRE_TEXTS),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...WIRE_KEYS), tie("value"), { maxKeys: 5 }),
  ),
}));

describe("law: exactly one answer per call, in order", () => {
  it("for any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expectOneAnswerPerCall(parseRequest(value));
      }),
    );
  });

  it("for any value made of the keys and words of the formats", () => {
    fc.assert(
      fc.property(wireLike, (value) => {
        expectOneAnswerPerCall(parseRequest(value));
        expectOneAnswerPerCall(parseRequestText(JSON.stringify(value)));
      }),
      { numRuns: 1_000 },
    );
  });

  it("for any text and any bytes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array()), (text) => {
        expectOneAnswerPerCall(parseRequestText(text));
      }),
    );
  });

  it("for any list of entries in every format that takes a list", () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record(
        { id: fc.jsonValue(), name: fc.jsonValue(), arguments: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    );
    const wrap: Record<string, (entries: unknown[]) => unknown> = {
      envelope: (entries) => ({ tool_calls: entries }),
      openai: (entries) => ({ role: "assistant", tool_calls: entries }),
      responses: (entries) => ({
        output: entries.map((item) => ({ ...Object(item), type: "function_call" })),
      }),
      anthropic: (entries) => ({ content: entries.map((item) => ({ ...Object(item), type: "tool_use" })) }),
      gemini: (entries) => ({ parts: entries.map((item) => ({ functionCall: item ?? 0 })) }),
    };
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 12 }),
        fc.constantFrom(...Object.keys(wrap)),
        (entries, format) => {
          const request = parseRequest(wrap[format]?.(entries));
          expect(request).toMatchObject({ format });
          expect("calls" in request && request.calls.length).toBe(entries.length);
          expectOneAnswerPerCall(request);
        },
      ),
    );
  });
});
