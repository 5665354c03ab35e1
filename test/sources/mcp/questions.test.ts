import { createServer, type Server } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { onTestEnd } from "../../support/runtime.js";
import { caller, mcpRuntime, scriptable, textOf, until } from "./support.js";

const MODERN = fileURLToPath(new URL("./modern-server.mjs", import.meta.url));
const modern = { command: process.execPath, args: [MODERN] };

test("a server of the newer protocol is spoken to in it: questions, structured data, tools that come later", async () => {
  const { runtime, source, home } = await mcpRuntime({ m: modern });
  expect(source.servers()[0]).toMatchObject({
    state: "ready",
    protocol: "2026-07-28",
    server_info: { name: "modern" },
  });
  const asked: { question: string; choices?: readonly string[] }[] = [];
  const answers = ["blue", "yes"];
  const call = await caller(runtime, {
    ask: async (question) => {
      asked.push(question);
      return answers.shift();
    },
  });
  const colour = await call("mcp_m_colour");
  expect(JSON.parse(textOf(colour))).toEqual({ action: "accept", content: { colour: "blue", sure: true } });
  expect(asked.map(({ choices }) => choices)).toEqual([
    ["red", "blue", "decline"],
    ["yes", "no", "decline"],
  ]);
  expect(asked[0]?.question).toContain("MCP server m asks: Which colour?");
  expect((await call("mcp_m_measure")).structured).toEqual({ value: 42 });
  await call("mcp_m_grow");
  await until(source, "m", ({ tools }) => tools.includes("mcp_m_new_one"));
  const later = await caller(runtime);
  expect(textOf(await later("mcp_m_new_one"))).toBe("new");
  await runtime.close();
  // The next start knows the protocol already, and what the server is.
  const again = await mcpRuntime({ m: modern }, { home, settle: false });
  await until(again.source, "m", ({ state }) => state === "ready");
  expect(again.source.servers()[0]).toMatchObject({
    protocol: "2026-07-28",
    server_info: { name: "modern" },
  });
});

test("a form is put to the person field by field; what does not fit is asked again, silence declines", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable() });
  const run = async (
    answers: readonly (string | undefined)[],
    properties: object,
    required: readonly string[] = [],
  ) => {
    const left = [...answers];
    const call = await caller(runtime, { ask: async () => left.shift() });
    const requestedSchema = { type: "object", properties, required };
    const result = await call("mcp_s_act", {
      do: "elicit",
      mode: "form",
      message: "Tell me",
      requestedSchema,
    });
    return JSON.parse(textOf(result));
  };
  const number = { n: { type: "integer", minimum: 1, maximum: 9 } };
  expect(await run(["7"], number)).toEqual({ action: "accept", content: { n: 7 } });
  expect(await run(["seven", "7"], number)).toEqual({ action: "accept", content: { n: 7 } });
  expect(await run(["12", "0"], number)).toEqual({ action: "decline" });
  expect(await run([undefined], number)).toEqual({ action: "decline" });
  expect(await run([""], number)).toEqual({ action: "accept", content: {} });
  expect(await run([""], number, ["n"])).toEqual({ action: "decline" });
  expect(await run(["decline"], number)).toEqual({ action: "decline" });
  expect(await run(["Blue"], { c: { type: "string", oneOf: [{ const: "b", title: "Blue" }] } })).toEqual({
    action: "accept",
    content: { c: "b" },
  });
  const many = { many: { type: "array", items: { type: "string", enum: ["a", "b", "c"] } } };
  expect(await run(["a, c"], many)).toEqual({ action: "accept", content: { many: ["a", "c"] } });
});

test("an address is only shown, and only when it is one of the web", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable() });
  const asked: string[] = [];
  const call = await caller(runtime, {
    ask: async ({ question }) => {
      asked.push(question);
      return "done";
    },
  });
  const open = async (url: string) =>
    JSON.parse(
      textOf(
        await call("mcp_s_act", {
          do: "elicit",
          mode: "url",
          message: "Please log in",
          url,
          elicitationId: "1",
        }),
      ),
    );
  expect(await open("https://example.com/login?a=1")).toMatchObject({ action: "accept" });
  expect(asked).toEqual([
    "MCP server s asks you to open an address yourself: https://example.com/login?a=1\nPlease log in",
  ]);
  for (const url of ["file:///etc/passwd", "javascript:alert(1)", "calc.exe"])
    expect(await open(url)).not.toMatchObject({ action: "accept" });
  expect(asked).toHaveLength(1);
});

test("a model is lent only where the configuration and the server's entry both say so, within limits", async () => {
  const seen: { body: Record<string, unknown>; key: string | undefined }[] = [];
  const model = await listening((body, key) => {
    seen.push({ body, key });
    return { model: "small", choices: [{ message: { content: "Bonjour" }, finish_reason: "stop" }] };
  });
  const mcp = {
    sampling: true,
    sampling_url: model,
    sampling_model: "small",
    sampling_api_key: "key-4711-secret",
  };
  const { runtime } = await mcpRuntime(
    { yes: scriptable({}, { sampling: true }), no: scriptable() },
    { mcp },
  );
  const call = await caller(runtime);
  const messages = [{ role: "user", content: { type: "text", text: "Say hello in French" } }];
  const sample = (server: string) =>
    call(`mcp_${server}_act`, { do: "sample", messages, maxTokens: 100_000, systemPrompt: "Be short" });
  expect(JSON.parse(textOf(await sample("yes")))).toMatchObject({
    role: "assistant",
    model: "small",
    content: { text: "Bonjour" },
  });
  expect(seen[0]).toMatchObject({
    key: "Bearer key-4711-secret",
    body: { model: "small", max_tokens: 4_096 },
  });
  expect(seen[0]?.body.messages).toEqual([
    { role: "system", content: "Be short" },
    { role: "user", content: "Say hello in French" },
  ]);
  expect(textOf(await sample("no"))).not.toContain("Bonjour");
  for (let count = 1; count < 10; count++) await sample("yes");
  expect(textOf(await sample("yes"))).toContain("no more than 10 questions a minute");
  expect(seen).toHaveLength(10);
});

test("when calls of several sessions run, a question of the server reaches nobody", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable({}, { supports_parallel_tool_calls: true }) });
  const asked: string[] = [];
  const ask = async ({ question }: { question: string }) => {
    asked.push(question);
    return "7";
  };
  const first = await caller(runtime, { ask });
  const second = await caller(runtime, { ask });
  const enough = new AbortController();
  const slow = first("mcp_s_act", { do: "sleep", ms: 60_000 }, enough.signal);
  const requestedSchema = { type: "object", properties: { n: { type: "integer" } } };
  const result = await second("mcp_s_act", {
    do: "elicit",
    mode: "form",
    message: "Tell me",
    requestedSchema,
  });
  expect(JSON.parse(textOf(result))).toEqual({ action: "decline" });
  expect(asked).toEqual([]);
  enough.abort();
  await slow;
});

test("while the server waits for a person, its time does not run", async () => {
  const { runtime } = await mcpRuntime({ s: scriptable({}, { timeout: 1, max_timeout: 1 }) });
  const call = await caller(runtime, {
    ask: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      return "7";
    },
  });
  const requestedSchema = { type: "object", properties: { n: { type: "integer" } } };
  const result = await call("mcp_s_act", { do: "elicit", mode: "form", message: "Tell me", requestedSchema });
  expect(JSON.parse(textOf(result))).toEqual({ action: "accept", content: { n: 7 } });
});

function listening(
  answer: (body: Record<string, unknown>, key: string | undefined) => unknown,
): Promise<string> {
  return new Promise((resolve) => {
    const server: Server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer(body, request.headers.authorization)));
    }).listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`);
    });
    onTestEnd(() => void server.close());
  });
}
