// LangChain's agent (createAgent, on LangGraph) with a model in the same process.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { createAgent, HumanMessage, tool } from "langchain";
import { z } from "zod";
import { answerTo, assertCourse, countingEcho, MESSAGES, question, SYSTEM } from "../agent-script.mjs";
import { echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { timedAfter } from "../operations.mjs";

export async function open({ tools = 10 }) {
  const { echo, counted } = countingEcho();
  const all = toolNames(tools).map((name) =>
    tool(echo, { name, description: echoDescription, schema: echoZodSchema(z) }),
  );
  const prepare = () => {
    const model = new ScriptedModel({});
    return { model, agent: createAgent({ model, tools: all, systemPrompt: SYSTEM }) };
  };
  const converse = (ask) => async (ground) => {
    let thread = [];
    for (let message = 0; message < MESSAGES; message += 1)
      thread = await ask(ground, { messages: [...thread, new HumanMessage(question(message))] });
    return thread.at(-1).content;
  };
  const whole = converse(async ({ agent }, input) => (await agent.invoke(input)).messages);
  const streamed = converse(async ({ agent }, input) => {
    let thread = [];
    for await (const [mode, part] of await agent.stream(input, { streamMode: ["messages", "values"] }))
      if (mode === "values") thread = part.messages;
    return thread;
  });
  for (const way of [whole, streamed]) {
    counted.calls = 0;
    const ground = prepare();
    const last = await way(ground);
    assertCourse("langchain", { requests: ground.model.asked, calls: counted.calls, last });
  }
  return { operations: { whole: timedAfter(prepare, whole), streamed: timedAfter(prepare, streamed) } };
}

class ScriptedModel extends BaseChatModel {
  asked = 0;

  _llmType() {
    return "scripted";
  }

  /** Real ones write the tools down anew for each request; that is the model's business and is not measured. */
  bindTools() {
    return this;
  }

  async _generate() {
    const { calls = [], words = [] } = answerTo(this.asked++);
    const text = words.join("");
    const message = new AIMessage({
      content: text,
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        name,
        args: JSON.parse(given),
        type: "tool_call",
      })),
    });
    return { generations: [{ text, message }] };
  }

  async *_streamResponseChunks(_messages, _options, runManager) {
    const { calls = [], words = [] } = answerTo(this.asked++);
    for (const text of words) {
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
      await runManager?.handleLLMNewToken(text);
    }
    if (calls.length === 0) return;
    const tool_call_chunks = calls.map(({ id, name, arguments: args }, index) => ({
      id,
      name,
      args,
      index,
      type: "tool_call_chunk",
    }));
    const message = new AIMessageChunk({ content: "", tool_call_chunks });
    yield new ChatGenerationChunk({ text: "", message });
  }
}
