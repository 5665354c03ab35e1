import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, json, tempFolder } from "./hermes.js";

const folder = tempFolder();
const arguments_ = { seconds: 0 };
const text = JSON.stringify(arguments_);
const slept = JSON.stringify({ status: "success", slept_ms: 0, interrupted: false });

const FORMATS = [
  {
    format: "the envelope",
    request: {
      tool_calls: [{ id: "a", type: "function", function: { name: "sleep", arguments: arguments_ } }],
    },
    answer: {
      tool_results: [
        {
          tool_call_id: "a",
          role: "tool",
          name: "sleep",
          content: { status: "success", slept_ms: 0, interrupted: false },
          duration_ms: expect.any(Number),
          metadata: expect.objectContaining({ state: "done", environment: "local" }),
        },
      ],
    },
  },
  {
    format: "an OpenAI message",
    request: {
      role: "assistant",
      tool_calls: [{ id: "a", type: "function", function: { name: "sleep", arguments: text } }],
    },
    answer: [{ role: "tool", tool_call_id: "a", content: slept }],
  },
  {
    format: "Responses items",
    request: [{ type: "function_call", call_id: "a", name: "sleep", arguments: text }],
    answer: [{ type: "function_call_output", call_id: "a", output: slept }],
  },
  {
    format: "an Anthropic message",
    request: {
      role: "assistant",
      content: [{ type: "tool_use", id: "a", name: "sleep", input: arguments_ }],
    },
    answer: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "a", content: slept, is_error: false }],
    },
  },
  {
    format: "a Gemini content",
    request: { role: "model", parts: [{ functionCall: { id: "a", name: "sleep", args: arguments_ } }] },
    answer: {
      role: "user",
      parts: [{ functionResponse: { id: "a", name: "sleep", response: JSON.parse(slept) } }],
    },
  },
  {
    format: "an MCP request",
    request: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "sleep", arguments: arguments_ },
    },
    answer: {
      jsonrpc: "2.0",
      id: 1,
      result: {
        content: [{ type: "text", text: JSON.stringify({ slept_ms: 0, interrupted: false }) }],
        structuredContent: { slept_ms: 0, interrupted: false },
        isError: false,
        _meta: expect.objectContaining({ "hermes-tools/status": "success" }),
      },
    },
  },
];

describe("hermes run answers in the format it was asked in", () => {
  it.each(FORMATS)("$format, from standard input and from a file", async ({ format, request, answer }) => {
    const file = join(folder, `${format}.json`);
    writeFileSync(file, JSON.stringify(request));
    const [fromInput, fromFile] = await Promise.all([
      hermes(["run"], { stdin: JSON.stringify(request) }),
      hermes(["run", file, "--json"]),
    ]);
    expect(json(fromInput)).toEqual(answer);
    expect(json(fromFile)).toEqual(answer);
    expect(fromInput).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("hermes run", () => {
  it("tells a model no more of a tool outside its scope than of one that does not exist", async () => {
    const calls = ["terminal", "terminol"].map((name) => ({ id: name, function: { name, arguments: {} } }));
    const done = await hermes(["run", "-t", "file"], { stdin: JSON.stringify({ tool_calls: calls }) });
    const { tool_results } = json<{ tool_results: { content: unknown; metadata: { code: string } }[] }>(done);
    for (const [index, { content, metadata }] of tool_results.entries()) {
      expect(content).toEqual({ status: "error", error: `Unknown tool: ${calls[index]?.id}` });
      expect(metadata.code).toBe("not_found");
    }
  });

  it("gives one answer per call in source order, whatever happens to each", async () => {
    const call = (id: string, name: string, given: unknown) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    });
    const request = {
      tool_calls: [
        call("slow", "sleep", { seconds: 0.3 }),
        call("unknown", "slep", {}),
        call("denied", "terminal", { command: "rm -rf x" }),
        call("bad", "sleep", '{"seconds":'),
        call("fast", "sleep", { seconds: "0" }),
      ],
    };
    const done = await hermes(["run"], { stdin: JSON.stringify(request) });
    const { tool_results } = json<{ tool_results: { tool_call_id: string; content: { error?: string } }[] }>(
      done,
    );
    expect(tool_results.map((result) => result.tool_call_id)).toEqual([
      "slow",
      "unknown",
      "denied",
      "bad",
      "fast",
    ]);
    expect(tool_results.map((result) => result.content.error !== undefined)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(done.code).toBe(0);
  });

  it("with --dry-run says what would happen and does nothing", async () => {
    const target = join(folder, "never.txt");
    const request = {
      tool_calls: [{ id: "w", function: { name: "write_file", arguments: { path: target, content: "x" } } }],
    };
    const done = await hermes(["run", "--dry-run"], { stdin: JSON.stringify(request) });
    expect(json(done)).toMatchObject([{ id: "w", name: "write_file", ok: true, decision: {} }]);
    expect(existsSync(target)).toBe(false);
  });

  it.each([
    { what: "cut off JSON", stdin: '{"tool_calls":[', says: "JSON" },
    { what: "nothing at all", stdin: "", says: "empty" },
    { what: "an object without calls", stdin: "{}", says: "tool_calls" },
    { what: "calls that are no list", stdin: '{"tool_calls":7}', says: "tool_calls" },
    { what: "bytes that are no text", stdin: Buffer.from([0xff, 0xfe, 0x00]), says: "" },
  ])("refuses $what as a whole and runs nothing", async ({ stdin, says }) => {
    const done = await hermes(["run", "--json"], { stdin });
    expect(done).toMatchObject({ code: 2, stdout: "" });
    expect(errorLine(done)).toMatchObject({ code: "bad_request" });
    expect(errorLine(done).message).toContain(says);
  });

  it("refuses a request that is too large, and stays within its memory", async () => {
    const filler = "x".repeat(70 * 1024 * 1024);
    const stdin = `{"tool_calls":[{"id":"a","function":{"name":"sleep","arguments":{"seconds":0,"reason":"${filler}"}}}]}`;
    const done = await hermes(["run", "--json"], { stdin });
    expect(done).toMatchObject({ code: 2, stdout: "" });
    expect(errorLine(done).message).toContain("too large");
  });

  it("says which file it cannot read", async () => {
    const done = await hermes(["run", "/nope.json", "--json"]);
    expect(done.code).toBe(2);
    expect(errorLine(done).message).toContain("/nope.json");
  });

  it("an empty list of calls is answered with an empty list", async () => {
    expect(json(await hermes(["run"], { stdin: '{"tool_calls":[]}' }))).toEqual({ tool_results: [] });
  });
});
