import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool, ToolResult } from "../../../src/index.js";
import { mcpResult } from "../../../src/protocol/index.js";
import { conversationElsewhere } from "../../../src/server/conversation-elsewhere.js";
import type { Decision } from "../../../src/tool/call.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { until } from "../support.js";
import { echo, waitingTool } from "../tools.js";
import { serve, WAYS } from "./support.js";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const showing = defineTool({
  name: "show",
  description: "Answers with parts of every kind.",
  permissions: [],
  parameters: { type: "object", properties: {} },
  handler: () =>
    new ToolResult({
      success: true,
      content: [
        { type: "text", text: "a picture" },
        { type: "image", data: PIXEL, mimeType: "image/png" },
        { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
        { type: "resource", uri: "file:///notes.txt", mimeType: "text/plain", text: "notes" },
        { type: "resource", uri: "file:///elsewhere.bin" },
      ],
    }),
});

const failing = defineTool({
  name: "fail",
  description: "Fails.",
  permissions: [],
  parameters: { type: "object", properties: {} },
  handler: () => {
    throw new Error("out of paper");
  },
});

const climbing = defineTool({
  name: "climb",
  description: "Says how far it is.",
  permissions: [],
  parameters: { type: "object", properties: {} },
  async *handler() {
    for (const fraction of [0, 0.5, 0.25, 1]) {
      yield { fraction, message: `at ${fraction}` };
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    yield "done";
  },
});

describe.each(WAYS)("over %s, revision %s", (...way) => {
  it("the session's tools are listed with what is known of them, and can be called", async () => {
    const reading = defineTool({
      name: "a_reader",
      toolset: "reading",
      description: "Reads.",
      permissions: ["file:read"],
      idempotent: true,
      parameters: { type: "object", properties: {} },
      output: { type: "object", properties: { lines: { type: "integer" } }, required: ["lines"] },
      handler: () => ({ lines: 3 }),
    });
    const { connect } = await serve(way, { tools: [echo, reading as AnyTool] });
    const client = await connect();
    expect(client.getNegotiatedProtocolVersion()).toBe(way[1]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["a_reader", "echo"]);
    expect(tools[0]).toMatchObject({
      title: "A reader",
      description: "Reads.",
      inputSchema: { type: "object", properties: {} },
      outputSchema: { type: "object", properties: { lines: { type: "integer" } } },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      _meta: { "hermes-tools/toolset": "reading", "hermes-tools/permissions": ["file:read"] },
    });
    const echoed = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    expect(echoed).toMatchObject({
      content: [{ type: "text", text: '{"text":"hello"}' }],
      structuredContent: { text: "hello" },
      isError: false,
    });
    const read = await client.callTool({ name: "a_reader", arguments: {} });
    expect(read.structuredContent).toEqual({ lines: 3 });
  });

  it("parts of every kind arrive; failures are results, and only an unknown tool is an error of the protocol", async () => {
    const { connect } = await serve(way, { tools: [showing as AnyTool, failing as AnyTool, echo] });
    const client = await connect();
    const shown = await client.callTool({ name: "show", arguments: {} });
    expect(shown.content).toEqual([
      { type: "text", text: "a picture" },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///notes.txt", mimeType: "text/plain", text: "notes" } },
      { type: "resource_link", uri: "file:///elsewhere.bin", name: "file:///elsewhere.bin" },
    ]);
    const failed = await client.callTool({ name: "fail", arguments: {} });
    expect(failed).toMatchObject({ isError: true, _meta: { "hermes-tools/error_code": "failed" } });
    expect(JSON.stringify(failed.content)).toContain("out of paper");
    const wrong = await client.callTool({ name: "echo", arguments: { text: { no: "text" } } });
    expect(wrong).toMatchObject({
      isError: true,
      _meta: { "hermes-tools/error_code": "invalid_arguments" },
    });
    const unknown = await client
      .callTool({ name: "no_such_tool", arguments: {} })
      .catch((error: unknown) => error);
    expect(unknown).toMatchObject({ code: -32602, message: expect.stringContaining("no_such_tool") });
  });

  it("progress only grows, and a cancelled call is aborted", async () => {
    const { tool: waiting, seen } = waitingTool();
    const { connect } = await serve(way, { tools: [climbing as AnyTool, waiting] });
    const client = await connect();
    const steps: { progress: number; total?: number | undefined }[] = [];
    const climbed = await client.callTool(
      { name: "climb", arguments: {} },
      { onprogress: ({ progress, total }) => steps.push({ progress, total }) },
    );
    expect(climbed.isError).toBe(false);
    expect(steps.length).toBeGreaterThanOrEqual(3);
    expect(steps[0]).toEqual({ progress: 0, total: 100 });
    expect(steps.at(-1)?.progress).toBe(100);
    for (const [index, { progress }] of steps.entries()) {
      expect(progress).toBeGreaterThan(steps[index - 1]?.progress ?? -1);
    }
    const leave = new AbortController();
    const waited = client
      .callTool({ name: "wait", arguments: {} }, { signal: leave.signal })
      .catch(() => "left");
    await until(() => seen.started === 1);
    leave.abort();
    expect(await waited).toBe("left");
    await until(() => seen.aborted === 1);
  });

  it("a client hears of tools that come and go, and calls the new one", async () => {
    const { connect, registry } = await serve(way, { tools: [echo] });
    let told = 0;
    const client = await connect({ onToolsChanged: () => (told += 1) });
    await client.listTools();
    registry.add(failing as AnyTool);
    await until(() => told === 1);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "fail"]);
    expect((await client.callTool({ name: "fail", arguments: {} })).isError).toBe(true);
  });
});

/** Answers, fails, or is not allowed to run, as its arguments say. */
const moody = defineTool({
  name: "moody",
  description: "does what it is told",
  permissions: ["file:read", "file:write"],
  parameters: {
    type: "object",
    properties: {
      mood: { enum: ["text", "object", "list", "throw", "nothing"] },
      touch: { enum: ["nothing", "read", "ask", "protected"], default: "nothing" },
      text: { type: "string", default: "" },
    },
    required: ["mood"],
  },
  effects: ({ touch }, { cwd, home = "/" }) => {
    if (touch === "read") return [{ action: "file:read", resource: `${cwd}/a`, mode: "read" }];
    if (touch === "protected")
      return [{ action: "file:write", resource: `${home}/.ssh/id_rsa`, mode: "write" }];
    if (touch === "ask")
      return [{ action: "file:write", resource: `${cwd}/b`, mode: "write", ask: { reason: "just because" } }];
    return [];
  },
  handler({ mood, text }) {
    if (mood === "throw") throw new Error(text);
    if (mood === "object") return { text };
    if (mood === "list") return [text];
    return mood === "nothing" ? undefined : text;
  },
});

const calls = fc.record({
  name: fc.constantFrom("moody", "moody", "moody", "Moody"),
  arguments: fc.record(
    {
      mood: fc.oneof(fc.constantFrom("text", "object", "list", "throw", "nothing"), fc.jsonValue()),
      touch: fc.constantFrom("nothing", "read", "ask", "protected"),
      text: fc.oneof(fc.string(), fc.constant("z".repeat(120_000)), fc.integer()),
    },
    { requiredKeys: [] },
  ),
});

/** Results too long for a message are saved, each under a name of its own. */
const comparable = (value: unknown) => JSON.stringify(value).replaceAll(/spillover[^" ]*/g, "spilled");

describe.each(WAYS)("law 1 over %s, revision %s", (...way) => {
  it("a call through MCP gives the same decision and the same result as the direct call", async () => {
    const { connect, runtime } = await serve(way, { tools: [moody as AnyTool] });
    const client = await connect();
    // A client that has its session to itself sits in a conversation: what is told of repetitions is told to both.
    const [carrier, revision] = way;
    const isShared = carrier === "http" && revision === "2026-07-28";
    const direct = await runtime.openSession(isShared ? {} : conversationElsewhere());
    const decisions: (Decision | undefined)[] = [];
    runtime.hooks.on("post_tool_call", ({ result }) => void decisions.push(result.decision));
    await fc.assert(
      fc.asyncProperty(calls, async (call) => {
        decisions.length = 0;
        const here = await direct.call(call);
        const { _meta, ...there } = await client.callTool(call);
        const { _meta: _, ...expected } = mcpResult(here);
        expect(comparable(there)).toBe(comparable(expected));
        expect(_meta?.["hermes-tools/error_code"]).toBe(here.error?.code);
        const [directly, throughMcp, ...more] = decisions;
        expect(throughMcp).toEqual(directly);
        expect(more).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});
