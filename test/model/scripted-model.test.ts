import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropicClient } from "../../src/model/anthropic.js";
import { complete, type ModelMessage } from "../../src/model/model-client.js";
import { chatCompletionsClient } from "../../src/model/openai-chat.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

const scenarios = join(import.meta.dirname, "..", "support", "scripted-model", "scenarios");
const tools = ["web_search", "write_file"].map((name) => ({
  name,
  description: name,
  parameters: { type: "object" },
}));

describe("the scripted model", () => {
  it("plays a scenario file, whatever comes in between", async () => {
    await using server = await startScriptedModel({ file: join(scenarios, "research-and-write.yaml") });
    const client = anthropicClient({ url: server.url, model: "m-1" });
    const messages: ModelMessage[] = [{ role: "user", content: "Write about llamas" }];
    const said: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const { text, toolCalls, opaque } = await complete(client, { messages, tools });
      said.push(text, ...toolCalls.map(({ name }) => name));
      messages.push({ role: "assistant", content: text, toolCalls, opaque });
      for (const { id, name } of toolCalls)
        messages.push({ role: "tool", toolCallId: id, name, content: `result of ${name}` });
      if (turn === 0) {
        const asked = [
          { role: "system", content: "Find a title" },
          { role: "user", content: "Write about llamas" },
        ] as const;
        expect((await complete(client, { messages: asked, purpose: "title" })).text).toBe("Notes on llamas");
      }
    }
    expect(said).toEqual(["I look it up.", "web_search", "", "write_file", "It is in llamas.md."]);
    expect([server.complaints, server.unused]).toEqual([[], []]);
  });

  it("refuses what providers refuse, and a question for which there is no step", async () => {
    await using server = await startScriptedModel({ steps: [{ when: { last: "hello" }, text: "Hi" }] });
    const client = chatCompletionsClient({ url: server.url, model: "m-1" });
    const open: ModelMessage[] = [
      { role: "user", content: "hello" },
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "web_search", arguments: "{}" }] },
      { role: "user", content: "hello" },
    ];
    await expect(complete(client, { messages: open })).rejects.toMatchObject({ status: 400 });
    await expect(complete(client, { messages: [{ role: "user", content: "bye" }] })).rejects.toMatchObject({
      status: 400,
    });
    expect(server.complaints).toEqual(["calls without a result: a", "no step is left for: bye"]);
    expect(server.unused).toHaveLength(1);
    expect(server.account.total.requests).toBe(0);
  });

  it("cuts an answer in the middle of a call, as a limit does", async () => {
    const calls = [{ name: "write_file", arguments: { path: "a", content: "long ".repeat(20) } }];
    await using server = await startScriptedModel({ steps: [{ calls, finish: "length" }] });
    const client = chatCompletionsClient({ url: server.url, model: "m-1" });
    const answer = await complete(client, { messages: [{ role: "user", content: "Go" }], tools });
    expect([answer.reason, answer.toolCalls]).toEqual(["length", []]);
  });
});
