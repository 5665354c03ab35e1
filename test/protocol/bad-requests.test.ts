import { describe, expect, it } from "vitest";
import { encodeResults, MAX_CALLS, parseRequest } from "../../src/protocol/index.js";
import { parsed, refused, resultOf } from "./fake-results.js";

const GOOD = { id: "good", type: "function", function: { name: "now", arguments: {} } };

describe("an entry that cannot be a call", () => {
  it.each([
    ["null", null, "is null"],
    ["a number", 7, "is a number"],
    ["a list", [1, 2], "is a list"],
    ["an empty object", {}, "has no function name"],
    ["a function that is null", { id: "x", function: null }, "null as function"],
    ["a function that is text", { id: "x", function: "now" }, "a string as function"],
    ["no name", { id: "x", function: { arguments: {} } }, "has no function name"],
    ["a name that is a number", { id: "x", function: { name: 42, arguments: {} } }, "must be a string"],
    ["an empty name", { id: "x", function: { name: "", arguments: {} } }, "Unknown tool"],
    ["a blank name", { id: "x", function: { name: " \n", arguments: {} } }, "Unknown tool"],
  ])("%s is answered in its place and the others still run", (_title, entry, reason) => {
    const request = parsed(parseRequest({ tool_calls: [GOOD, entry, { ...GOOD, id: "last" }] }));
    expect(request.calls.map((call) => call.malformed?.code)).toEqual([undefined, "bad_request", undefined]);
    expect(request.calls[1]?.malformed?.message).toContain(reason);

    const encoded = encodeResults(
      request,
      request.calls.map((call) => resultOf(call)),
    );
    expect(encoded).toMatchObject({
      tool_results: [
        { tool_call_id: "good" },
        { content: { error: expect.stringContaining(reason) } },
        { tool_call_id: "last" },
      ],
    });
  });

  it("keeps its own id when that can be read", () => {
    const request = parsed(parseRequest({ tool_calls: [{ id: "mine", function: null }] }));
    expect(request.givenIds).toEqual(["mine"]);
    expect(request.calls[0]?.id).toBe("mine");
  });

  it("in Gemini and MCP form is answered too", () => {
    const gemini = parsed(
      parseRequest({ role: "model", parts: [{ functionCall: "now" }, { functionCall: { name: "now" } }] }),
    );
    expect(gemini.calls.map((call) => call.malformed?.message)).toEqual([
      expect.stringContaining("functionCall"),
      undefined,
    ]);
    const mcp = parsed(parseRequest({ jsonrpc: "2.0", id: 1, method: "tools/call" }));
    expect(mcp.calls[0]?.malformed?.message).toContain("params");
    expect(encodeResults(mcp, [])).toMatchObject({ jsonrpc: "2.0", id: 1, result: { isError: true } });
  });
});

describe("a request without calls to answer is refused with a reason", () => {
  it.each([
    ["an empty object", {}, "tool_calls"],
    ["text", "web_search", "a string"],
    ["null", null, "null"],
    ["nothing", undefined, "nothing"],
    ["foreign keys", { foo: 1, bar: 2 }, '"foo", "bar"'],
    ["tool_calls as text", { tool_calls: "web_search" }, '"tool_calls"'],
    ["tool_calls as object", { tool_calls: { id: "a" } }, '"tool_calls"'],
    ["tool_calls as null", { tool_calls: null }, '"tool_calls"'],
    ["tool_calls of a message as text", { role: "assistant", tool_calls: "x" }, '"tool_calls"'],
    ["another JSON-RPC method", { jsonrpc: "2.0", id: 1, method: "tools/list" }, "tools/list"],
    [
      "the form before tool_calls",
      { role: "assistant", content: null, function_call: { name: "x" } },
      "function_call",
    ],
  ])("%s", (_title, value, reason) => {
    const problem = refused(parseRequest(value));
    expect(problem.code).toBe("bad_request");
    expect(problem.message).toContain(reason);
    expect(problem.hint).toBeTruthy();
  });

  it("too many calls", () => {
    const entries = new Array<unknown>(MAX_CALLS).fill(GOOD);
    expect(parsed(parseRequest({ tool_calls: entries })).calls).toHaveLength(MAX_CALLS);
    expect(refused(parseRequest({ tool_calls: [...entries, GOOD] })).message).toContain(
      String(MAX_CALLS + 1),
    );
  });
});

describe("values that JSON text cannot hold", () => {
  it("arguments that contain themselves end their own call only", () => {
    const loop: Record<string, unknown> = { siblings: [1, 2, 3] };
    loop.first = loop;
    loop.second = { again: loop };
    const request = parsed(parseRequest({ tool_calls: [GOOD, { id: "loop", name: "x", arguments: loop }] }));
    expect(request.calls[0]?.malformed).toBeUndefined();
    expect(request.calls[1]?.malformed?.message).toContain("deep");
    expect(request.calls[1]?.arguments).toBeUndefined();
  });

  it.each([Symbol("x"), 10n, () => 1, Number.NaN, new Map(), new Date(0), new Uint8Array(3)])(
    "%s is no request",
    (value) => {
      expect(refused(parseRequest(value)).code).toBe("bad_request");
      expect(parsed(parseRequest({ tool_calls: [value] })).calls[0]?.malformed).toBeDefined();
    },
  );

  it("arguments whose parts are shared many times over are refused instead of walked for ever", () => {
    let shared: unknown = [];
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    const request = parsed(parseRequest({ tool_calls: [{ id: "a", name: "x", arguments: { shared } }] }));
    expect(request.calls[0]?.malformed?.code).toBe("bad_request");
  });

  it("an object that throws when read becomes a refusal", () => {
    const trap = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new Error("trapped");
        },
      },
    );
    expect(refused(parseRequest(trap)).message).toContain("trapped");
  });
});

describe("prototype names", () => {
  it("inherited keys are not taken for keys of the request", () => {
    const inherited = Object.create({ tool_calls: [GOOD] }) as unknown;
    expect(refused(parseRequest(inherited)).code).toBe("bad_request");
    const entry = Object.create({ name: "now", arguments: {} }) as unknown;
    expect(parsed(parseRequest({ tool_calls: [entry] })).calls[0]?.malformed?.message).toContain(
      "no function name",
    );
  });

  it("as name, id or key are data and leave no trace", () => {
    const text =
      '{"__proto__":{"polluted":1},"tool_calls":[{"id":"__proto__","name":"constructor","arguments":{"__proto__":{"polluted":1}}}]}';
    const request = parsed(parseRequest(JSON.parse(text)));
    expect(request.calls[0]).toMatchObject({ id: "__proto__", name: "constructor" });
    expect(
      JSON.stringify(
        encodeResults(
          request,
          request.calls.map((call) => resultOf(call)),
        ),
      ),
    ).toContain('"tool_call_id":"__proto__"');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
