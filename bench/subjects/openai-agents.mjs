import { RunContext, tool } from "@openai/agents";
import { z } from "zod";
import { assertEchoed, echo, echoArguments, echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { callOperations, oneByOne } from "../operations.mjs";

export async function open({ tools = 10 }) {
  const all = toolNames(tools).map((name) =>
    tool({ name, description: echoDescription, parameters: echoZodSchema(z), execute: echo }),
  );
  const context = new RunContext();
  const [echoTool] = all;
  // It takes the text a model writes; that text is made here because a model's client would hand it over.
  const call = (number) => echoTool.invoke(context, JSON.stringify(echoArguments(number)));
  assertEchoed("@openai/agents", await call(7));
  const list = () =>
    JSON.stringify(
      all.map(({ type, name, description, parameters }) => ({ type, name, description, parameters })),
    );
  return { operations: { ...callOperations(call), list: oneByOne(list) } };
}
