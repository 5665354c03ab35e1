import { describe, expect, it } from "vitest";
import { encodeResults, modelText, parseRequest } from "../../src/protocol/index.js";
import type { CallResult } from "../../src/tool/call.js";
import { parsed, resultOf } from "./fake-results.js";

const CALL = { id: "a", name: "now", arguments: {} };
const result = (fields: Partial<CallResult>) => resultOf(CALL, fields);
const text = (value: string) => ({ type: "text" as const, text: value });

describe("what a model reads", () => {
  it("is the text of a success, unchanged", () => {
    expect(modelText(result({ content: [text('{"a": 1}\n')] }))).toBe('{"a": 1}\n');
    expect(modelText(result({ content: [] }))).toBe("");
  });

  it("has the notices at its end, once", () => {
    const notices = ["Same call 3 times.", "Step back."];
    expect(modelText(result({ content: [text("ok")], notices }))).toBe(
      "ok\n[notice: Same call 3 times.]\n[notice: Step back.]",
    );
    expect(modelText(result({ content: [text("ok Step back.")], notices: ["Step back."] }))).toBe(
      "ok Step back.",
    );
  });

  it("is JSON with an error when the call failed", () => {
    const error = { code: "denied" as const, message: 'no "write"', hint: "ask" };
    expect(JSON.parse(modelText(result({ ok: false, content: [], error })))).toEqual({
      status: "error",
      error: 'no "write"',
      hint: "ask",
    });
    expect(JSON.parse(modelText(result({ ok: false, content: [], error, notices: ["Again."] })))).toEqual({
      status: "error",
      error: 'no "write"',
      hint: "ask",
      notices: ["Again."],
    });
    expect(JSON.parse(modelText(result({ ok: false, content: [] })))).toEqual({
      status: "error",
      error: expect.any(String),
    });
  });

  it("is the content of a failure when a hook has replaced it, still as JSON", () => {
    const error = { code: "failed" as const, message: "token abc leaked" };
    const shown = (content: string) =>
      JSON.parse(modelText(result({ ok: false, content: [text(content)], error }))) as unknown;
    expect(shown('{"error":"masked"}')).toEqual({ status: "error", error: "masked" });
    expect(shown("masked")).toEqual({ status: "error", error: "masked" });
    expect(shown('{"broken')).toEqual({ status: "error", error: '{"broken' });
    expect(shown('{"ok":false}')).toEqual({ status: "error", error: '{"ok":false}' });
  });
});

describe("an object", () => {
  const object = { tool_calls: [CALL] };
  const chat = { role: "assistant", content: null, tool_calls: [{ id: "a", function: { name: "now" } }] };
  const messages = { content: [{ type: "tool_use", id: "a", name: "now", input: {} }] };
  const items = [{ type: "function_call", call_id: "a", name: "now", arguments: "{}" }];
  const content = { parts: [{ functionCall: { id: "a", name: "now", args: {} } }] };
  const told = (request: unknown, fields: Partial<CallResult>) =>
    JSON.stringify(encodeResults(parsed(parseRequest(request)), [result(fields)]));

  it.each([
    ["the envelope", object, (json: string) => json],
    ["OpenAI", chat, JSON.stringify],
    ["Anthropic", messages, JSON.stringify],
    ["Responses", items, JSON.stringify],
    ["Gemini", content, (json: string) => json],
  ] as const)("has one shape, with its status: %s", (_title, request, written) => {
    const running = { status: "running", session_id: "p1" };
    const fields = { content: [text(JSON.stringify(running))], structured: running, notices: ["Again."] };
    const shape = '{"status":"success","session_id":"p1","tool_status":"running","notices":["Again."]}';
    expect(told(request, fields)).toContain(written(shape));
  });

  it("is in MCP what `structuredContent` is, with its status beside", () => {
    const told = encodeResults(
      parsed(parseRequest({ id: "a", method: "tools/call", params: { name: "now" } })),
      [result({ content: [text('{"rows":2}')], structured: { rows: 2 } })],
    );
    expect(told).toMatchObject({
      content: [{ text: '{"rows":2}' }],
      structuredContent: { rows: 2 },
      _meta: { "hermes-tools/status": "success" },
    });
  });

  it("that a tool shows as text, or that stands in a file, is left as it is", () => {
    const file = { content: '{"a":1}', lines: 1 };
    expect(modelText(result({ content: [text('{"a":1}')], structured: file }))).toBe('{"a":1}');
    expect(modelText(result({ content: [text("1 line")], structured: file }))).toBe("1 line");
  });
});

describe("the structured form", () => {
  const envelopeContent = (fields: Partial<CallResult>) => {
    const request = parsed(parseRequest({ tool_calls: [CALL] }));
    const encoded = encodeResults(request, [result(fields)]) as { tool_results: { content: unknown }[] };
    return encoded.tool_results[0]?.content;
  };

  it("has the status of the call; a tool's own word of that name stands beside it", () => {
    const running = { status: "running", session_id: "p1" };
    expect(envelopeContent({ content: [text("x")], structured: running })).toEqual({
      status: "success",
      session_id: "p1",
      tool_status: "running",
    });
  });

  it("is sent only while it keeps the bound of a result", () => {
    const small = { rows: ["x".repeat(1_000)] };
    const large = { rows: ["x".repeat(200_000)] };
    expect(envelopeContent({ content: [text("short")], structured: small })).toEqual({
      status: "success",
      ...small,
    });
    expect(envelopeContent({ content: [text("short")], structured: large })).toEqual({
      status: "success",
      output: "short",
    });
    expect(envelopeContent({ content: [text(JSON.stringify(large))], structured: large })).toEqual({
      status: "success",
      ...large,
    });
  });

  it.each([
    ["a list", [1]],
    ["text", "x"],
    ["null", null],
    ["a BigInt inside", { n: 1n }],
  ])("that is %s gives way to the text", (_title, structured) => {
    expect(envelopeContent({ content: [text("shown")], structured })).toEqual({
      status: "success",
      output: "shown",
    });
  });
});
