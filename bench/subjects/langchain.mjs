import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { z } from "zod";
import { assertEchoed, echo, echoArguments, echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { callOperations, oneByOne } from "../operations.mjs";

export async function open({ tools = 10 }) {
  const all = toolNames(tools).map((name) =>
    tool(echo, { name, description: echoDescription, schema: echoZodSchema(z) }),
  );
  const [echoTool] = all;
  const call = (number) => echoTool.invoke(echoArguments(number));
  assertEchoed("@langchain/core", await call(7));
  const list = () => JSON.stringify(all.map((each) => convertToOpenAITool(each)));
  return { operations: { ...callOperations(call), list: oneByOne(list) } };
}
