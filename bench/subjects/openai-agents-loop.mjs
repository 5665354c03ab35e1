// The agent loop of @openai/agents with a model in the same process. Traces, which it sends to its maker, are off.
import { Agent, Runner, setTracingDisabled, tool, Usage, user } from "@openai/agents";
import { z } from "zod";
import { answerTo, assertCourse, countingEcho, MESSAGES, question, SYSTEM } from "../agent-script.mjs";
import { echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { timedAfter } from "../operations.mjs";

export async function open({ tools = 10 }) {
  setTracingDisabled(true);
  const { echo, counted } = countingEcho();
  const all = toolNames(tools).map((name) =>
    tool({ name, description: echoDescription, parameters: echoZodSchema(z), execute: echo }),
  );
  const prepare = () => {
    const model = new ScriptedModel();
    const agent = new Agent({ name: "bench", instructions: SYSTEM, model, tools: all });
    return { model, agent, runner: new Runner({ tracingDisabled: true }) };
  };
  const converse = (ask) => async (ground) => {
    let thread = [];
    let last;
    for (let message = 0; message < MESSAGES; message += 1) {
      const result = await ask(ground, [...thread, user(question(message))]);
      thread = result.history;
      last = result.finalOutput;
    }
    return last;
  };
  const whole = converse(({ runner, agent }, input) => runner.run(agent, input));
  const streamed = converse(async ({ runner, agent }, input) => {
    const result = await runner.run(agent, input, { stream: true });
    for await (const event of result) void event;
    await result.completed;
    return result;
  });
  for (const way of [whole, streamed]) {
    counted.calls = 0;
    const ground = prepare();
    const last = await way(ground);
    assertCourse("@openai/agents", { requests: ground.model.asked, calls: counted.calls, last });
  }
  return { operations: { whole: timedAfter(prepare, whole), streamed: timedAfter(prepare, streamed) } };
}

class ScriptedModel {
  asked = 0;

  async getResponse() {
    return { usage: new Usage(), output: outputOf(answerTo(this.asked++)) };
  }

  async *getStreamedResponse() {
    const number = this.asked++;
    const answer = answerTo(number);
    yield { type: "response_started" };
    for (const delta of answer.words ?? []) yield { type: "output_text_delta", delta };
    const usage = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };
    yield { type: "response_done", response: { id: `resp_${number}`, usage, output: outputOf(answer) } };
  }
}

function outputOf({ calls, words }) {
  if (words !== undefined) {
    const content = [{ type: "output_text", text: words.join("") }];
    return [{ type: "message", role: "assistant", status: "completed", content }];
  }
  return calls.map(({ id, name, arguments: given }) => ({
    type: "function_call",
    callId: id,
    name,
    arguments: given,
    status: "completed",
  }));
}
