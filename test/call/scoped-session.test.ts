import { expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const plain = (name: string, toolset: string, extra: Partial<AnyTool> = {}): AnyTool =>
  ({
    ...defineTool({ name, toolset, description: name, parameters: { type: "object" }, handler: () => "x" }),
    ...extra,
  }) as AnyTool;

it("a scoped session does not tell that a foreign tool exists", async () => {
  const { runtime } = await testRuntime([plain("mine", "a"), plain("secret_tool", "b")]);
  const session = await runtime.openSession({ toolsets: ["a"] });
  const foreign = await session.call({ id: "c", name: "secret_tool" });
  const nowhere = await session.call({ id: "c", name: "secret_toll" });
  const words = (result: typeof foreign) => JSON.stringify([result.error, result.content]);
  expect(words(foreign)).toBe(words(nowhere).replaceAll("secret_toll", "secret_tool"));
});

it("neither does what it takes a mistyped name for, nor a command line that nobody inside has", async () => {
  const hidden = plain("secret_tool", "b", { aliases: ["hidden_helper"] });
  const { runtime } = await testRuntime([plain("mine", "a", { aliases: ["my_own"] }), hidden]);
  const session = await runtime.openSession({ toolsets: ["a"] });
  const hintFor = async (name: string) => (await session.call({ id: "c", name })).error?.hint;
  expect(await hintFor("my_onw")).toBe("Did you mean my_own?");
  expect(await hintFor("hidden_helpr")).toBeUndefined();
});

it("a tool of the agent loop is offered only where there is one", async () => {
  const { runtime } = await testRuntime([plain("mine", "a"), plain("list", "a", { host: "todos" })]);
  const names = async (host?: object) => {
    const session = await runtime.openSession(host === undefined ? {} : { host });
    return (await session.definitions()).map((definition) => definition.function.name);
  };
  expect(await names()).toEqual(["mine"]);
  expect(await names({ todos: { read: () => [], write: () => [] } })).toEqual(["list", "mine"]);
  const told = await runtime.getToolDefinitions();
  expect(told.map((definition) => definition.function.name)).toEqual(["mine"]);
});
