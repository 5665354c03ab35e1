// Our agent loop with a model in the same process: as it is by default, with every message, request and call written
// down, or with nothing written down.
import { answerTo, assertCourse, countingEcho, MESSAGES, question, SYSTEM } from "../agent-script.mjs";
import { echoDescription, echoSchema, toolNames } from "../echo.mjs";
import { hermesAgents, said } from "../hermes-agents.mjs";
import { timedAfter } from "../operations.mjs";

const TOOLSET = "bench";

/** `dist`: the build to measure. `tools`: how many the model is told of. `journal`: whether anything is written down. */
export async function open({ dist, tools = 10, journal = true }) {
  const { echo, counted } = countingEcho();
  const agents = await hermesAgents({
    dist,
    journal,
    tools: toolNames(tools).map((name) => ({
      name,
      toolset: TOOLSET,
      schema: { description: echoDescription, parameters: structuredClone(echoSchema) },
      handler: echo,
    })),
  });
  const prepare = async () => {
    const client = scriptedModel();
    return { client, agent: await agents.open({ client, who: SYSTEM, toolsets: [TOOLSET] }) };
  };
  const streamed = async ({ agent }) => {
    let result;
    for (let message = 0; message < MESSAGES; message += 1) result = await said(agent, question(message));
    return result.text;
  };
  const ground = await prepare();
  const last = await streamed(ground);
  assertCourse("hermes", { requests: ground.client.asked, calls: counted.calls, last });
  return { operations: { streamed: timedAfter(prepare, streamed) }, close: () => agents.close() };
}

function scriptedModel() {
  return {
    asked: 0,
    async *stream() {
      const { calls = [], words = [] } = answerTo(this.asked++);
      for (const text of words) yield { type: "text", text };
      for (const call of calls) yield { type: "tool_call", call };
      const usage = { inputTokens: 100, outputTokens: 10 };
      yield { type: "finish", reason: calls.length > 0 ? "tool_calls" : "stop", usage };
    },
  };
}
