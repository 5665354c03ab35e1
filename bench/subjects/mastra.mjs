import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { assertEchoed, echo, echoArguments, echoDescription, echoZodSchema, toolNames } from "../echo.mjs";
import { callOperations } from "../operations.mjs";

export async function open({ tools = 10 }) {
  const [echoTool] = toolNames(tools).map((id) =>
    createTool({
      id,
      description: echoDescription,
      inputSchema: echoZodSchema(z),
      execute: ({ context }) => echo(context),
    }),
  );
  const call = (number) => echoTool.execute({ context: echoArguments(number) });
  assertEchoed("@mastra/core", await call(7));
  return { operations: callOperations(call) };
}
