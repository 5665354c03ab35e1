import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defineTool } from "../../src/index.js";
import { createLogger } from "../../src/observe/log.js";
import { SpanExporter } from "../../src/observe/otel/exporter.js";
import { parseTraceparent } from "../../src/observe/otel/trace-context.js";
import { startServer } from "../server/support.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { startReceiver } from "./otlp-receiver.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const echo = defineTool({
  name: "echo",
  toolset: "test",
  description: "Says it again.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  permissions: [],
  handler: ({ text }) => `said ${text}`,
});

const fails = defineTool({
  name: "fails",
  toolset: "test",
  description: "Fails.",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  permissions: [],
  handler: ({ text }) => {
    throw new Error(`cannot do ${text}`);
  },
});

const outer = defineTool({
  name: "outer",
  toolset: "test",
  description: "Calls another.",
  parameters: { type: "object", properties: {} },
  permissions: [],
  async handler(_args, ctx) {
    const nested = ctx.openTools();
    await nested.call({ name: "echo", arguments: { text: "inside" } });
    nested.close();
    return "done";
  },
});

describe.each(["http/json", "http/protobuf"] as const)("traces as %s", (protocol) => {
  it("a call is a span of the GenAI conventions, sent before the runtime is closed", async () => {
    const receiver = await startReceiver();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
    vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20k");
    vi.stubEnv("OTEL_SERVICE_NAME", "my-tools");
    vi.stubEnv("TRACEPARENT", PARENT);
    const { runtime } = await testRuntime([echo, fails, outer]);
    const session = await runtime.openSession({ door: "cli", model: "big-1" });
    await session.call({ id: "c1", name: "echo", arguments: { text: "hush" } });
    await session.call({ id: "c2", name: "fails", arguments: { text: "hush" } });
    await session.call({ id: "c3", name: "outer" });
    await runtime.close();
    expect(receiver.requests[0]).toMatchObject({
      path: "/v1/traces",
      headers: { authorization: "Bearer k" },
    });
    expect(receiver.resources[0]).toMatchObject({ "service.name": "my-tools" });
    const byId = new Map(receiver.spans.map((span) => [span.attributes["gen_ai.tool.call.id"], span]));
    expect(receiver.spans).toHaveLength(4);
    expect(byId.get("c1")).toMatchObject({
      name: "execute_tool echo",
      kind: 1,
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.conversation.id": session.id,
        "gen_ai.request.model": "big-1",
        "hermes.door": "cli",
      },
    });
    expect(byId.get("c2")).toMatchObject({ attributes: { "error.type": "failed" }, status: { code: 2 } });
    const inner = receiver.spans.find((span) => span.parentSpanId === byId.get("c3")?.spanId);
    expect(inner).toMatchObject({ name: "execute_tool echo", traceId: byId.get("c3")?.traceId });
  });

  it("lesson 105: what a call was given and what it answered is not told, unless somebody asks for it", async () => {
    const receiver = await startReceiver();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `${receiver.url}/`);
    vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
    const run = async () => {
      const { runtime } = await testRuntime([echo, fails]);
      const session = await runtime.openSession();
      for (const name of ["echo", "fails"]) await session.call({ name, arguments: { text: "hush-hush" } });
      await runtime.close();
      return Buffer.concat(receiver.bodies.splice(0)).toString("latin1");
    };
    for (const off of ["", "0", "true"]) {
      vi.stubEnv("HERMES_OTEL_CONTENT", off);
      const sent = await run();
      expect(sent).toContain("execute_tool echo");
      expect(sent).not.toContain("hush");
    }
    vi.stubEnv("HERMES_OTEL_CONTENT", "1");
    expect(await run()).toContain("said hush-hush");
    expect(receiver.spans.at(-2)?.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"text":"hush-hush"}',
      "gen_ai.tool.call.result": "said hush-hush",
    });
  });

  it("lesson 104: 20,000 spans arrive whole, and no request is large", async () => {
    const receiver = await startReceiver();
    const exporter = new SpanExporter({
      url: receiver.url,
      protocol,
      headers: {},
      resource: {},
      log: createLogger({ level: "error" }),
    });
    for (let number = 0; number < 20_000; number += 1) {
      exporter.add({
        name: `span ${number}`,
        kind: "client",
        context: { traceId: "1".repeat(32), spanId: number.toString(16).padStart(16, "0"), sampled: true },
        parentSpanId: undefined,
        startedAt: 1_700_000_000_000.25,
        endedAt: 1_700_000_000_001.5,
        attributes: { number, big: 2 ** 40, less: -7, half: 0.5, yes: true, list: ["ä", "b"] },
        error: undefined,
      });
    }
    await exporter.flush();
    await exporter.close();
    expect(new Set(receiver.spans.map(({ name }) => name)).size).toBe(20_000);
    expect(receiver.spans[19_999]).toMatchObject({
      ms: 1.25,
      attributes: { number: 19_999, big: 2 ** 40, less: -7, half: 0.5, yes: true, list: ["ä", "b"] },
    });
    expect(Math.max(...receiver.bodies.map(({ length }) => length))).toBeLessThan(1_000_000);
  });
});

it("the header of a request is the parent of its calls, and HTTP tools hand the trace on", async () => {
  const receiver = await startReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
  const heard: unknown[] = [];
  const web = createServer((request, response) => {
    heard.push(request.headers.traceparent);
    response.end("ok");
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  onTestEnd(() => new Promise<void>((resolve) => web.close(() => resolve())));
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`;
  const fetches = defineTool({
    name: "fetches",
    toolset: "test",
    description: "Fetches.",
    parameters: { type: "object", properties: {} },
    permissions: [],
    handler: async (_args, ctx) => (await ctx.fetch({ url, configured: true })).text(),
  });
  const { calls, runtime } = await startServer([fetches]);
  await calls(
    { tool_calls: [{ id: "h1", function: { name: "fetches", arguments: {} } }] },
    { headers: { traceparent: PARENT } },
  );
  await runtime.close();
  const [span] = receiver.spans;
  expect(span).toMatchObject({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    parentSpanId: "b7ad6b7169203331",
  });
  expect(heard).toEqual([`00-${span?.traceId}-${span?.spanId}-01`]);
});

it("nothing is sent, and nothing is told to others, where no collector is named", async () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "");
  vi.stubEnv("TRACEPARENT", PARENT);
  let told: string | undefined = "not called";
  const looks = defineTool({
    name: "looks",
    toolset: "test",
    description: "Looks.",
    parameters: { type: "object", properties: {} },
    permissions: [],
    handler: (_args, ctx) => {
      told = ctx.traceparent;
      return "done";
    },
  });
  const { runtime } = await testRuntime([looks]);
  await (await runtime.openSession()).call({ name: "looks" });
  expect(told).toBeUndefined();
  expect(await runtime.tracer()).toBeUndefined();
});

it("a collector that does not answer keeps no program from ending", async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestEnd(() => {
    silent.closeAllConnections();
    return new Promise<void>((resolve) => silent.close(() => resolve()));
  });
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const { runtime } = await testRuntime([echo]);
  await (await runtime.openSession()).call({ name: "echo", arguments: { text: "hi" } });
  await runtime.close();
});

it("a trace context that is none is no parent", () => {
  expect(parseTraceparent(PARENT)).toEqual({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    sampled: true,
  });
  for (const wrong of [
    "",
    "x",
    PARENT.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
    `ff${PARENT.slice(2)}`,
  ])
    expect(parseTraceparent(wrong)).toBeUndefined();
});
