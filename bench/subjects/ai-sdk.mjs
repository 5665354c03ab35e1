// The AI SDK has no call without a model, so this is one whole step with its own mock model.
import { generateText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { assertEchoed, echo, echoArguments, echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { callOperations } from "../operations.mjs";

export async function open({ tools = 10 }) {
  const all = Object.fromEntries(
    toolNames(tools).map((name) => [
      name,
      tool({ description: echoDescription, inputSchema: echoZodSchema(z), execute: echo }),
    ]),
  );
  const call = (number) =>
    generateText({
      model: new MockLanguageModelV3({ doGenerate: answerWithCall(number) }),
      tools: all,
      prompt: "echo, please",
    });
  assertEchoed("ai", (await call(7)).toolResults[0]?.output);
  return { operations: callOperations(call) };
}

function answerWithCall(number) {
  const tokens = { total: 1 };
  return {
    content: [
      {
        type: "tool-call",
        toolCallId: `call_${number}`,
        toolName: "echo",
        input: JSON.stringify(echoArguments(number)),
      },
    ],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage: { inputTokens: tokens, outputTokens: tokens },
    warnings: [],
  };
}
