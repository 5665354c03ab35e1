import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAgent, defineTool } from "../../src/index.js";
import { played } from "../agent/support.js";
import { serve, WAYS } from "../server/mcp/support.js";
import { startServer } from "../server/support.js";
import { caller, mcpRuntime, scriptable, textOf } from "../sources/mcp/support.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { type Receiver, startReceiver } from "./otlp-receiver.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const PARENT = `00-${TRACE}-${SPAN}-01`;
const BELOW_PARENT = { traceId: TRACE, parentSpanId: SPAN };

let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const echo = defineTool({
  name: "echo",
  toolset: "test",
  description: "Says it again.",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  permissions: [],
  handler: ({ text = "" }) => `said ${text}`,
});

const CALLS_ONCE: readonly Step[] = [
  {
    text: "Let me ask.",
    calls: [{ id: "e1", name: "echo", arguments: { text: "hi" } }],
    usage: { input: 100, output: 10 },
  },
  { text: "It said hi.", usage: { input: 200, output: 5, cached: 50 } },
];

const MODERN = fileURLToPath(new URL("../sources/mcp/modern-server.mjs", import.meta.url));
const META = {
  name: "meta",
  description: "Tells its _meta",
  inputSchema: { type: "object", properties: {} },
};

async function modelThat(steps: readonly Step[]) {
  const model = await startScriptedModel({ steps });
  onTestEnd(() => model.close());
  return model;
}

const named = (name: string) => receiver.spans.filter((span) => span.name === name);

describe("a request to a model", () => {
  it("is a span of the GenAI conventions, in one trace with the calls of its turn", async () => {
    const model = await modelThat(CALLS_ONCE);
    const { runtime } = await testRuntime([echo], {
      env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: model.url },
    });
    const agent = await createAgent({ model: "openai:gpt-x", runtime, toolsets: ["test"] });
    const { result } = await played(agent.send("hush-hush"));
    expect(result).toMatchObject({ text: "It said hi.", stop: "end" });
    await agent.close();
    await runtime.close();
    const chats = named("chat openai:gpt-x");
    expect(chats.map(({ kind, attributes }) => ({ kind, attributes }))).toMatchObject([
      {
        kind: 3,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "openai:gpt-x",
          "gen_ai.response.finish_reasons": ["tool_calls"],
          "gen_ai.conversation.id": agent.session.id,
          "hermes.conversation": agent.conversation,
          "gen_ai.usage.input_tokens": 100,
          "gen_ai.usage.output_tokens": 10,
        },
      },
      {
        attributes: {
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.usage.input_tokens": 200,
          "gen_ai.usage.cache_read.input_tokens": 50,
        },
      },
    ]);
    const [call] = named("execute_tool echo");
    expect(new Set([...chats, call].map((span) => span?.traceId)).size).toBe(1);
    expect(Buffer.concat(receiver.bodies).toString()).not.toContain("hush-hush");
  });

  it("of an agent that was handed work stands below the call that handed it on", async () => {
    const tasks = [{ goal: "say yes" }];
    const model = await modelThat([
      { text: "", calls: [{ id: "d1", name: "delegate_task", arguments: { tasks } }] },
      { text: "Yes." },
      { text: "It said yes." },
    ]);
    const { runtime } = await testRuntime([], {
      builtins: true,
      env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: model.url },
    });
    const agent = await createAgent({ model: "openai:gpt-x", runtime });
    expect((await played(agent.send("go"))).result?.text).toBe("It said yes.");
    await agent.close();
    await runtime.close();
    const [handed] = named("execute_tool delegate_task");
    const parents = named("chat openai:gpt-x").map(({ parentSpanId }) => parentSpanId);
    expect(parents.filter((parent) => parent === handed?.spanId)).toHaveLength(1);
    expect(parents).toHaveLength(3);
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it("that fails is a span that says so, without the words of the server", async () => {
    const model = await modelThat([{ status: 401, error: "bad key hush-hush" }]);
    const { runtime } = await testRuntime([], {
      env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: model.url },
    });
    const agent = await createAgent({ model: "openai:gpt-x", runtime });
    expect((await played(agent.send("there?"))).result?.stop).toBe("error");
    await agent.close();
    await runtime.close();
    const [chat] = named("chat openai:gpt-x");
    expect(chat).toMatchObject({ attributes: { "error.type": expect.any(String) }, status: { code: 2 } });
    expect(Buffer.concat(receiver.bodies).toString()).not.toContain("hush-hush");
  });
});

describe("the span of whoever asks is the parent", () => {
  it.each([false, true])("of all that follows from a chat message (streamed: %s)", async (stream) => {
    const model = await modelThat(CALLS_ONCE);
    const { ask, runtime } = await startServer([echo], {
      runtime: {
        env: {
          PATH: process.env.PATH,
          HERMES_MODEL_PROVIDER: "compatible",
          HERMES_MODEL: "scripted",
          HERMES_MODEL_BASE_URL: model.url,
          HERMES_MODEL_API_KEY: "key",
        },
      },
    });
    const answer = await ask("/v1/chat/completions", {
      method: "POST",
      headers: { traceparent: PARENT },
      body: JSON.stringify({ stream, messages: [{ role: "user", content: "go" }] }),
    });
    expect(await answer.text()).toContain("It said hi.");
    await runtime.close();
    expect(receiver.spans.map(({ name }) => name.split(" ")[0]).sort()).toEqual([
      "chat",
      "chat",
      "execute_tool",
    ]);
    for (const span of receiver.spans) expect(span).toMatchObject(BELOW_PARENT);
  });

  it.each(WAYS)("of an MCP call that names it in _meta (%s, %s)", async (...way) => {
    const { connect, runtime } = await serve(way, { tools: [echo] });
    const client = await connect();
    await client.callTool({ name: "echo", arguments: {}, _meta: { traceparent: PARENT } });
    await runtime.close();
    expect(receiver.spans).toMatchObject([BELOW_PARENT]);
  });

  it.each(WAYS.filter(([carrier]) => carrier === "http"))(
    "of an MCP call whose request names it in a header (%s, %s)",
    async (...way) => {
      const { connect, runtime } = await serve(way, { tools: [echo] });
      const client = await connect({ headers: { traceparent: PARENT } });
      await client.callTool({ name: "echo", arguments: {} });
      await runtime.close();
      expect(receiver.spans).toMatchObject([BELOW_PARENT]);
    },
  );
});

describe("an MCP server", () => {
  it.each([
    ["2025-11-25", scriptable({ tools: [META] })],
    ["2026-07-28", { command: process.execPath, args: [MODERN] }],
  ])("of revision %s is told the span of its call", async (_revision, settings) => {
    const { runtime } = await mcpRuntime({ peer: settings });
    const answer = await (await caller(runtime))("mcp_peer_meta");
    await runtime.close();
    const [span] = receiver.spans;
    const told = `00-${span?.traceId}-${span?.spanId}-01`;
    expect(JSON.parse(textOf(answer))).toMatchObject({ traceparent: told });
  });
});
