import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  encodeDefinitions,
  encodeResults,
  parseRequest,
  parseRequestText,
} from "../../src/protocol/index.js";
import type { CallResult, IncomingCall } from "../../src/tool/call.js";
import type { ToolSchema } from "../../src/tool/tool.js";
import { parsed, resultOf } from "./fake-results.js";

interface GoldenCase {
  readonly title: string;
  readonly request: unknown;
  readonly calls: readonly IncomingCall[];
  readonly results: readonly Partial<CallResult>[];
  readonly answer: unknown;
}

const FORMATS = ["envelope", "openai", "responses", "anthropic", "gemini", "mcp"] as const;

function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../fixtures/protocol/${name}.json`, import.meta.url), "utf8")) as T;
}

describe.each(FORMATS)("%s", (format) => {
  it.each(fixture<GoldenCase[]>(format))("$title", ({ request, calls, results, answer }) => {
    const found = parsed(parseRequest(request));
    expect(found.format).toBe(format);
    expect(found.calls).toEqual(calls);

    const finished = found.calls.map((call, index) => resultOf(call, results[index]));
    const encoded = encodeResults(found, finished);
    expect(encoded).toStrictEqual(answer);
    expect(encodeResults(found, finished.toReversed())).toStrictEqual(answer);

    expect(parseRequestText(JSON.stringify(request))).toEqual(found);
    expect(parseRequestText(new TextEncoder().encode(JSON.stringify(request, null, 2)))).toEqual(found);
  });
});

it("tool_calls settles the format, whatever stands beside it", () => {
  const tool_calls = [{ id: "a", name: "now", arguments: {} }];
  const beside = {
    content: [{ type: "tool_use", id: "b", name: "later", input: {} }],
    output: [],
    parts: [],
  };
  expect(parseRequest({ ...beside, tool_calls })).toMatchObject({ format: "envelope", calls: [{ id: "a" }] });
  expect(parseRequest({ ...beside, tool_calls, role: "assistant" })).toMatchObject({ format: "openai" });
});

describe("definitions", () => {
  const golden = fixture<Record<string, unknown> & { definitions: ToolSchema[] }>("definitions");

  it.each(["openai", "responses", "anthropic", "gemini", "mcp"] as const)(
    "for %s are byte for byte",
    (format) => {
      expect(JSON.stringify(encodeDefinitions(golden.definitions, format))).toBe(
        JSON.stringify(golden[format]),
      );
    },
  );

  it("are in the OpenAI form unless another is asked for", () => {
    expect(encodeDefinitions(golden.definitions)).toEqual(golden.openai);
    expect(encodeDefinitions(golden.definitions, "envelope")).toEqual(golden.openai);
    expect(encodeDefinitions([], "gemini")).toEqual({ functionDeclarations: [] });
  });
});
