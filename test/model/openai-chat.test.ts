import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { chatCompletionsClient, complete, ModelError, type ModelPart } from "../../src/index.js";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  /** Sent one after the other, each in a packet of its own. */
  readonly chunks: readonly (string | Uint8Array)[];
  /** The connection stays open behind them. */
  readonly open?: boolean;
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server on a free port of this machine that answers as told and keeps what it was sent. */
async function serverThat(answer: (request: Received) => Answer) {
  const received: Received[] = [];
  let closed = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Received["body"];
    const seen = { path: request.url ?? "", headers: request.headers, body };
    received.push(seen);
    response.once("close", () => {
      closed += 1;
    });
    const { status = 200, type = "application/json", chunks: pieces, open } = answer(seen);
    response.writeHead(status, { "content-type": type });
    response.flushHeaders();
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (open !== true) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, closed: () => closed };
}

const whole = (message: unknown, rest: Record<string, unknown> = {}): Answer => ({
  chunks: [
    JSON.stringify({ model: "m-1", choices: [{ index: 0, message, finish_reason: "stop" }], ...rest }),
  ],
});

const event = (value: unknown): string =>
  `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const delta = (value: unknown, finish: string | null = null) =>
  event({ model: "m-1", choices: [{ index: 0, delta: value, finish_reason: finish }] });
const USAGE = event({
  model: "m-1",
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } },
});
const streamed = (...events: readonly string[]): Answer => ({ type: "text/event-stream", chunks: events });

const USER = [{ role: "user", content: "hello" }] as const;

async function parts(stream: AsyncIterable<ModelPart>): Promise<readonly ModelPart[]> {
  const all: ModelPart[] = [];
  for await (const part of stream) all.push(part);
  return all;
}

describe("an answer that comes in parts", () => {
  const SPOKEN = [
    delta({ role: "assistant", content: "Grüß " }),
    delta({ content: "dich 👋" }),
    delta({}, "stop"),
    USAGE,
    event("[DONE]"),
  ];

  it("is text as it comes, then how it ended, with usage", async () => {
    const server = await serverThat(() => streamed(": a comment\n\n", ...SPOKEN));
    const client = chatCompletionsClient({ url: server.url, model: "m" });
    expect(await parts(client.stream({ messages: USER }))).toEqual([
      { type: "text", text: "Grüß " },
      { type: "text", text: "dich 👋" },
      {
        type: "finish",
        reason: "stop",
        model: "m-1",
        usage: { inputTokens: 12, outputTokens: 5, cachedTokens: 8 },
      },
    ]);
    expect(server.received[0]?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      messages: USER,
    });
  });

  it.each([1, 3, 7, 64])(
    "is the same when its bytes come in pieces of %i, and with CRLF",
    async (size) => {
      const bytes = Buffer.from(SPOKEN.join("").replaceAll("\n", "\r\n"));
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const server = await serverThat(() => ({ type: "text/event-stream", chunks: pieces }));
      const client = chatCompletionsClient({ url: server.url, model: "m" });
      expect(await complete(client, { messages: USER })).toMatchObject({
        text: "Grüß dich 👋",
        usage: { inputTokens: 12, outputTokens: 5 },
      });
    },
    20_000,
  );

  it("holds tool calls whole and in order, however their pieces are mixed", async () => {
    const call = (index: number, rest: unknown) => delta({ tool_calls: [{ index, ...(rest as object) }] });
    const server = await serverThat(() =>
      streamed(
        call(0, { id: "a", type: "function", function: { name: "read_file", arguments: "" } }),
        call(1, { id: "b", type: "function", function: { name: "terminal", arguments: '{"comm' } }),
        call(0, { function: { arguments: '{"path":' } }),
        call(1, { function: { arguments: 'and":"ls"}' } }),
        call(0, { function: { arguments: '"x"}' } }),
        delta({}, "tool_calls"),
        event("[DONE]"),
      ),
    );
    const client = chatCompletionsClient({ url: server.url, model: "m" });
    const tools = [{ name: "read_file", description: "Reads", parameters: { type: "object" } }] as const;
    expect(await parts(client.stream({ messages: USER, tools }))).toEqual([
      { type: "tool_call_begun", id: "a", name: "read_file" },
      { type: "tool_call_begun", id: "b", name: "terminal" },
      { type: "tool_call", call: { id: "a", name: "read_file", arguments: '{"path":"x"}' } },
      { type: "tool_call", call: { id: "b", name: "terminal", arguments: '{"command":"ls"}' } },
      { type: "finish", reason: "tool_calls", model: "m-1", usage: undefined },
    ]);
    expect(server.received[0]?.body.tools).toEqual([{ type: "function", function: tools[0] }]);
  });

  it("that breaks off, or turns into an error, is no answer", async () => {
    const answers = [
      ["broken_off", streamed(delta({ content: "half" }))],
      ["busy", streamed(delta({ content: "half" }), event({ error: { message: "overloaded" } }))],
      ["bad_answer", streamed(event("not json"))],
    ] as const;
    for (const [code, answer] of answers) {
      const server = await serverThat(() => answer);
      const client = chatCompletionsClient({ url: server.url, model: "m" });
      await expect(complete(client, { messages: USER })).rejects.toSatisfy(
        (error) => ModelError.isInstance(error) && error.code === code,
      );
    }
  });

  it("ends with its signal, and its connection with whoever stops listening", async () => {
    const server = await serverThat(() => ({ ...streamed(delta({ content: "one" })), open: true }));
    const client = chatCompletionsClient({ url: server.url, model: "m" });
    for await (const part of client.stream({ messages: USER })) {
      expect(part).toEqual({ type: "text", text: "one" });
      break;
    }
    await expect.poll(server.closed).toBe(1);
    const controller = new AbortController();
    const reason = new Error("enough");
    const asked = complete(client, { messages: USER, signal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await expect(asked).rejects.toBe(reason);
    await expect.poll(server.closed).toBe(2);
  });
});

describe("an answer in one piece", () => {
  it("is asked for with stream false, and is the same kind of answer", async () => {
    const server = await serverThat(() =>
      whole({ role: "assistant", content: "hi" }, { usage: { prompt_tokens: 3, completion_tokens: 1 } }),
    );
    const client = chatCompletionsClient({ url: `${server.url}/v1`, model: "m", apiKey: "k", stream: false });
    expect(await complete(client, { messages: USER, maxTokens: 9, temperature: 0, stop: ["x"] })).toEqual({
      text: "hi",
      toolCalls: [],
      reason: "stop",
      model: "m-1",
      usage: { inputTokens: 3, outputTokens: 1, cachedTokens: undefined },
    });
    const [{ path, headers, body } = { path: "", headers: {}, body: {} }] = server.received;
    expect([path, headers.authorization]).toEqual(["/v1/chat/completions", "Bearer k"]);
    expect(body).toEqual({
      model: "m",
      messages: USER,
      stream: false,
      max_tokens: 9,
      temperature: 0,
      stop: ["x"],
    });
  });

  it("holds several tool calls, also as objects and without ids", async () => {
    const calls = [
      { id: "a", type: "function", function: { name: "one", arguments: '{"x":1}' } },
      { type: "function", function: { name: "two", arguments: { y: 2 } } },
    ];
    const server = await serverThat(() => whole({ role: "assistant", content: null, tool_calls: calls }));
    const client = chatCompletionsClient({ url: server.url, model: "m", stream: false });
    expect(await complete(client, { messages: USER })).toMatchObject({
      reason: "tool_calls",
      toolCalls: [
        { id: "a", name: "one", arguments: '{"x":1}' },
        { id: expect.stringMatching(/^call_\w{16}$/), name: "two", arguments: '{"y":2}' },
      ],
    });
  });

  it("sends images, earlier calls and their results as the protocol writes them", async () => {
    const server = await serverThat(() => whole({ role: "assistant", content: "a cat" }));
    const client = chatCompletionsClient({ url: server.url, model: "m", stream: false });
    await complete(client, {
      messages: [
        { role: "system", content: "Look" },
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image", data: "aGk=", mimeType: "image/png" },
          ],
        },
        { role: "assistant", content: "", toolCalls: [{ id: "a", name: "zoom", arguments: { by: 2 } }] },
        { role: "tool", toolCallId: "a", content: "zoomed" },
      ],
    });
    expect(server.received[0]?.body.messages).toEqual([
      { role: "system", content: "Look" },
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "zoom", arguments: '{"by":2}' } }],
      },
      { role: "tool", tool_call_id: "a", content: "zoomed" },
    ]);
  });

  it.each([
    ["length", {}, "length"],
    ["content_filter", {}, "refusal"],
    ["stop", { refusal: "no" }, "refusal"],
    ["something_new", {}, "other"],
    [null, {}, "stop"],
  ])("that ended with %s %j ended with %s", async (finish_reason, extra, reason) => {
    const server = await serverThat(() => ({
      chunks: [JSON.stringify({ choices: [{ message: { content: "x", ...extra }, finish_reason }] })],
    }));
    const client = chatCompletionsClient({ url: server.url, model: "m", stream: false });
    expect((await complete(client, { messages: USER })).reason).toBe(reason);
  });
});

describe("a server that cannot answer", () => {
  const codeOf = (asked: Promise<unknown>) =>
    asked.then(
      () => "answered",
      (error: unknown) => (ModelError.isInstance(error) ? [error.code, error.status] : error),
    );

  it("is told apart: status, size, nonsense, not there, no address", async () => {
    const ask = (url: string, maxBytes?: number) =>
      codeOf(complete(chatCompletionsClient({ url, model: "m", maxBytes }), { messages: USER }));
    const busy = await serverThat(() => ({ status: 429, chunks: ["{}"] }));
    const moved = await serverThat(() => ({ status: 307, chunks: [""] }));
    const huge = await serverThat(() => whole({ content: "x".repeat(5_000) }));
    const odd = await serverThat(() => ({ chunks: ['{"choices":[{},{}]}'] }));
    expect(await ask(busy.url)).toEqual(["busy", 429]);
    expect(await ask(moved.url)).toEqual(["status", 307]);
    expect(await ask(huge.url, 1_000)).toEqual(["too_large", undefined]);
    expect(await ask(odd.url)).toEqual(["bad_answer", undefined]);
    expect(await ask("http://127.0.0.1:9")).toEqual(["unreachable", undefined]);
    expect(await ask("ftp://x")).toEqual(["unreachable", undefined]);
    expect(await ask("http://169.254.169.254/v1")).toEqual(["unreachable", undefined]);
  });

  it("is asked again without the field it does not know, once and for all", async () => {
    const server = await serverThat(({ body }) => {
      const unknown = ["max_tokens", "stream_options", "response_format"].find((name) => name in body);
      if (unknown === undefined) return whole({ content: "{}" });
      const hint = unknown === "max_tokens" ? "use max_completion_tokens" : unknown;
      return { status: 400, chunks: [JSON.stringify({ error: { message: hint } })] };
    });
    const client = chatCompletionsClient({ url: server.url, model: "m" });
    const request = { messages: USER, maxTokens: 5, json: true };
    await complete(client, request);
    expect(server.received).toHaveLength(4);
    await complete(client, request);
    expect(server.received).toHaveLength(5);
    expect(server.received[4]?.body).toMatchObject({ max_completion_tokens: 5 });
  });
});
