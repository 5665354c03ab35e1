import { expect, it } from "vitest";
import { ToolRegistry } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

const record = { name: "search", toolset: "mine", schema: { description: "Search" }, handler: () => "found" };

it("takes the fields as the source documents spell them", async () => {
  const registry = new ToolRegistry();
  registry.register({
    ...record,
    check_fn: () => false,
    requires_env: ["SERP_API_KEY"],
    is_async: false,
    timeout_seconds: 15,
  });
  const entry = registry.get("search");
  expect(entry?.requiresEnv).toEqual(["SERP_API_KEY"]);
  expect((await entry?.load())?.timeoutMs).toBe(15_000);
  const { runtime } = await testRuntime([], { registry });
  const result = await (await runtime.openSession()).call({ name: "search" });
  expect(result.error).toMatchObject({ code: "unavailable" });
});

it.each([
  ["handlr", /"handlr" is no field of a registration; did you mean "handler"/],
  ["checkfn", /did you mean "checkFn"/],
  ["colour", /"colour" is no field/],
])("refuses the unknown field %s and says what was meant", (field, words) => {
  const registry = new ToolRegistry();
  expect(() => registry.register({ ...record, [field]: () => true })).toThrow(words);
  expect(registry.get("search")).toBeUndefined();
});

it("says that a name is missing before anything else", () => {
  const nameless = { description: "Search", handler: () => "found" } as unknown as typeof record;
  expect(() => new ToolRegistry().register(nameless)).toThrow(/it has no name/);
});
