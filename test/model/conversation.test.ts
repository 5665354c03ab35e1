import { afterEach, describe, expect, it } from "vitest";
import { anthropicClient } from "../../src/model/anthropic.js";
import { geminiClient } from "../../src/model/gemini.js";
import {
  complete,
  type ModelAnswer,
  type ModelClient,
  type ModelMessage,
  type ModelRequest,
} from "../../src/model/model-client.js";
import { chatCompletionsClient } from "../../src/model/openai-chat.js";
import { responsesClient } from "../../src/model/openai-responses.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";

type Make = (url: string, model: string) => ModelClient;

const CLIENTS: Readonly<Record<string, Make>> = {
  chat: (url, model) => chatCompletionsClient({ url, model, apiKey: "k" }),
  responses: (url, model) => responsesClient({ url, model, apiKey: "k" }),
  anthropic: (url, model) => anthropicClient({ url, model, apiKey: "k" }),
  gemini: (url, model) => geminiClient({ url, model, apiKey: "k" }),
};

const servers: ScriptedModel[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function scripted(steps: readonly Step[]): Promise<ScriptedModel> {
  const server = await startScriptedModel({ steps });
  servers.push(server);
  return server;
}

const TOOLS = ["read_file", "terminal"].map((name) => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));
const SYSTEM: ModelMessage = { role: "system", content: "You help. ".repeat(200) };
const ask = (messages: readonly ModelMessage[]): ModelRequest => ({ messages, tools: TOOLS });

/** The answer as the loop stores it, and a result for each of its calls. */
function withResults(answer: ModelAnswer): ModelMessage[] {
  const { text, toolCalls, opaque } = answer;
  return [
    { role: "assistant", content: text, toolCalls, opaque },
    ...toolCalls.map(({ id, name }) => ({
      role: "tool" as const,
      toolCallId: id,
      name,
      content: `result of ${name}`,
    })),
  ];
}

const CALLING: Step = {
  reasoning: "Two files, so two calls.",
  text: "I look.",
  calls: [
    { name: "read_file", arguments: { path: "ä/b", n: 1 } },
    { name: "terminal", arguments: { command: 'echo "x"' } },
  ],
};

describe.each(Object.entries(CLIENTS))("a conversation over %s", (format, make) => {
  it("calls, gets results, and goes on; the bill is the server's", async () => {
    const server = await scripted([CALLING, { text: "Done." }]);
    const client = make(server.url, "m-1");
    const begin: ModelMessage[] = [SYSTEM, { role: "user", content: "Look at both" }];
    const first = await complete(client, ask(begin));
    expect(first).toMatchObject({ text: "I look.", reason: "tool_calls" });
    expect(first.toolCalls.map(({ name, arguments: given }) => [name, JSON.parse(String(given))])).toEqual([
      ["read_file", { path: "ä/b", n: 1 }],
      ["terminal", { command: 'echo "x"' }],
    ]);
    const second = await complete(client, ask([...begin, ...withResults(first)]));
    expect([second.text, second.reason, second.toolCalls]).toEqual(["Done.", "stop", []]);
    expect(server.complaints).toEqual([]);
    expect(server.requests.map((request) => request.format)).toEqual([format, format]);
    expect(server.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
    ]);
    const [one, two] = [first.usage, second.usage];
    expect({
      inputTokens: (one?.inputTokens ?? 0) + (two?.inputTokens ?? 0),
      outputTokens: (one?.outputTokens ?? 0) + (two?.outputTokens ?? 0),
      cachedTokens: (one?.cachedTokens ?? 0) + (two?.cachedTokens ?? 0),
      requests: 2,
    }).toEqual(server.account.total);
    expect(two?.cachedTokens).toBeGreaterThan(500);
  });

  it("keeps the beginning of what is sent byte for byte over many turns", async () => {
    const server = await scripted([{ ...CALLING, repeat: "always" }]);
    const client = make(server.url, "m-1");
    const messages: ModelMessage[] = [SYSTEM, { role: "user", content: "Go" }];
    for (let turn = 0; turn < 12; turn++)
      messages.push(...withResults(await complete(client, ask(messages))));
    expect(server.complaints).toEqual([]);
    const [, ...later] = server.requests;
    for (const [at, { knownPrefix }] of later.entries())
      expect(knownPrefix).toBe(server.requests[at]?.promptLength);
  });

  it("shows pictures of the person", async () => {
    const server = await scripted([{ text: "A cat." }]);
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ] as const;
    await complete(make(server.url, "m-1"), ask([{ role: "user", content }]));
    expect(server.requests[0]?.messages).toEqual([
      { role: "user", text: "What is it?", images: 1, calls: [] },
    ]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain("aGk=");
  });
});

describe("lesson 57: what a model has signed goes back to that model only", () => {
  it.each(Object.entries(CLIENTS))("%s", async (_, make) => {
    const server = await scripted([CALLING, { text: "Gone on." }, { text: "Back." }]);
    const messages: ModelMessage[] = [{ role: "user", content: "Look" }];
    const first = await complete(make(server.url, "m-1"), ask(messages));
    messages.push(...withResults(first));
    const other = await complete(make(server.url, "m-2"), ask(messages));
    messages.push(...withResults(other), { role: "user", content: "And now?" });
    const back = await complete(make(server.url, "m-1"), ask(messages));
    expect([other.text, back.text]).toEqual(["Gone on.", "Back."]);
    expect(server.complaints).toEqual([]);
    const signed = JSON.parse(first.opaque?.json ?? "null") as unknown;
    expect(signed).not.toBeNull();
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    const mark = /"(?:signature|encrypted_content|thoughtSignature|reasoning_content)":"([^"]+)"/.exec(
      first.opaque?.json ?? "",
    )?.[1];
    expect(mark).toBeDefined();
    expect(bodies.map((body) => body.includes(mark ?? "?"))).toEqual([false, false, true]);
  });
});

describe("lesson 58: what providers want back, they get back", () => {
  it.each(["anthropic", "responses", "gemini"])("%s refuses what was changed", async (name) => {
    const server = await scripted([CALLING]);
    const client = CLIENTS[name]?.(server.url, "m-1");
    if (client === undefined) throw new Error("no client");
    const begin: ModelMessage[] = [{ role: "user", content: "Look" }];
    const first = await complete(client, ask(begin));
    const changed = { ...first, opaque: { from: `${name}:m-1`, json: tampered(first.opaque?.json ?? "") } };
    await expect(complete(client, ask([...begin, ...withResults(changed)]))).rejects.toMatchObject({
      status: 400,
    });
    expect(server.complaints[0]).toMatch(/signature|encrypted/i);
  });

  const tampered = (json: string) =>
    json.replace(/"(signature|encrypted_content|thoughtSignature)":"../, '"$1":"??');
});

describe("lesson 53: what could not be read as arguments goes back in a form that every server takes", () => {
  it.each(Object.entries(CLIENTS))("%s", async (_, make) => {
    const server = await scripted([{ text: "Fine." }]);
    const wrong = { id: "c1", name: "read_file", arguments: "{'path': 'x'}" };
    const answer = await complete(
      make(server.url, "m-1"),
      ask([
        { role: "user", content: "Look" },
        { role: "assistant", content: "", toolCalls: [wrong] },
        { role: "tool", toolCallId: "c1", name: "read_file", content: "bad JSON", isError: true },
      ]),
    );
    expect(answer.text).toBe("Fine.");
    const body = JSON.stringify(server.requests[0]?.body);
    expect(body).toContain("malformed_arguments");
    expect(body).toContain("{'path': 'x'}");
  });
});
