import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import { serveMcpOverStreams } from "../../../src/server/mcp/stdio.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { testRuntime } from "../../support/runtime.js";
import { until } from "../support.js";

const measure = defineTool({
  name: "measure",
  description: "Says how long a text is.",
  permissions: [],
  parameters: { type: "object", properties: { text: { type: "string" } } },
  handler: ({ text = "" }) => `${text.length} characters`,
}) as AnyTool;

/** A client that writes lines itself. */
async function open(tools: readonly AnyTool[]) {
  const { runtime, logged } = await testRuntime(tools);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = serveMcpOverStreams({ runtime, input, output, signal: new AbortController().signal });
  const heard: { id?: number | null; result?: unknown; error?: { code: number } }[] = [];
  let rest = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    heard.push(...lines.map((line) => JSON.parse(line)));
  });
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  send({ id: 0, method: "initialize", params });
  send({ method: "notifications/initialized" });
  const answerTo = async (id: number) => {
    await until(() => heard.some((message) => message.id === id));
    return heard.find((message) => message.id === id);
  };
  await answerTo(0);
  return { input, left, heard, send, answerTo, logged };
}

describe("a client on standard input", () => {
  it("hears that a line is no message, and goes on", async () => {
    const { input, heard, send, answerTo, logged, left } = await open([measure]);
    for (const line of ["{ not JSON", "42", '[{"jsonrpc":"2.0","id":5,"method":"ping"}]', "", "\r"])
      input.write(`${line}\n`);
    send({ id: 1, method: "ping" });
    expect(await answerTo(1)).toMatchObject({ result: {} });
    const refused = heard.filter(({ id }) => id === null);
    expect(refused.map(({ error }) => error?.code)).toEqual([-32_700, -32_700, -32_700]);
    expect(logged.filter((line) => line.includes("it sent a line that is no message"))).toHaveLength(3);
    input.end();
    await left;
  });

  it("may send a long message in many pieces: reading it takes a time that grows with its length", async () => {
    const { input, answerTo, left } = await open([measure]);
    const size = 15 * 2 ** 20;
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call" };
    const text = JSON.stringify({
      ...call,
      params: { name: "measure", arguments: { text: "x".repeat(size) } },
    });
    const bytes = Buffer.from(`${text}\n`);
    const began = performance.now();
    // Small pieces: copying what is there already for each of them would be 60 GB.
    for (let at = 0; at < bytes.length; at += 2_048) {
      if (!input.write(bytes.subarray(at, at + 2_048)))
        await new Promise((done) => input.once("drain", done));
    }
    expect(await answerTo(1)).toMatchObject({
      result: { content: [{ type: "text", text: `${size} characters` }] },
    });
    expect(performance.now() - began).toBeLessThan(8_000);
    input.end();
    await left;
  });

  it("that goes leaves nobody waiting for a tool that does not stop", async () => {
    let started = false;
    const deaf = defineTool({
      name: "deaf",
      description: "Does not hear that it should stop.",
      permissions: [],
      parameters: { type: "object", properties: {} },
      handler() {
        started = true;
        return new Promise<string>((resolve) => setTimeout(() => resolve("late"), 20_000).unref());
      },
    });
    const { input, left, send } = await open([deaf]);
    send({ id: 1, method: "tools/call", params: { name: "deaf", arguments: {} } });
    await until(() => started);
    const began = performance.now();
    input.end();
    await left;
    // Clients kill what is still there two seconds later.
    expect(performance.now() - began).toBeLessThan(3_500);
  });
});
