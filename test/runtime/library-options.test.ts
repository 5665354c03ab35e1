import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import {
  BaseTool,
  createRuntime,
  defineTool,
  HermesError,
  type RuntimeOptions,
  ToolRegistry,
} from "../../src/index.js";

const home = mkdtempSync(join(tmpdir(), "hermes-library-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const greet = defineTool({
  name: "greet",
  description: "Greet somebody",
  parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  handler: ({ who }) => `Hello, ${who}!`,
});

const danger = defineTool({
  name: "danger",
  description: "Needs a yes",
  parameters: { type: "object", properties: {} },
  permissions: ["terminal:execute"],
  effects: () => [{ action: "terminal:execute", resource: "rm -rf /srv/x", mode: "execute" }],
  handler: () => "done",
});

const open = (options: RuntimeOptions = {}) =>
  createRuntime({ home, journal: false, registry: new ToolRegistry(), userTools: false, ...options });

it("tools given to createRuntime can be called, and are gone with the runtime", async () => {
  const registry = new ToolRegistry();
  const runtime = await open({ registry, tools: [greet] });
  const session = await runtime.openSession();
  expect(await session.call({ name: "greet", arguments: { who: "Ada" } })).toMatchObject({ ok: true });
  await runtime.close();
  expect(registry.get("greet")).toBeUndefined();
});

class Notes extends BaseTool {
  readonly name = "notes";
  readonly description = "Keeps a note";
  run(params: Readonly<Record<string, unknown>>) {
    return { kept: params.note };
  }
}

it("both take a BaseTool as it is", async () => {
  const runtime = await open({ tools: [new Notes()] });
  const session = await runtime.openSession();
  const called = await session.call({ name: "notes", arguments: { note: "milk" } });
  expect(called.structured).toEqual({ kept: "milk" });
  await runtime.close();
  expect(new ToolRegistry().register(new Notes())).toBe(true);
});

it("registry.register takes what defineTool makes", async () => {
  const registry = new ToolRegistry();
  expect(registry.register(greet)).toBe(true);
  expect(registry.get("greet")?.parameters).toEqual(greet.parameters);
});

it("the approver may be a function; what it throws is a no", async () => {
  const runtime = await open({ tools: [danger] });
  const asked: string[] = [];
  const yes = await runtime.openSession({
    approver: async ({ tool }) => {
      asked.push(tool);
      return "once";
    },
  });
  expect(await yes.call({ name: "danger" })).toMatchObject({ ok: true });
  expect(asked).toEqual(["danger"]);
  const no = await runtime.openSession({
    approver: async () => {
      throw new Error("nobody there");
    },
  });
  expect(await no.call({ name: "danger" })).toMatchObject({ ok: false, error: { code: "denied" } });
  await runtime.close();
});

it("an option that does not exist is an error that names the one that does", async () => {
  const runtime = await open();
  const wrong = { toolset: ["file"] } as object;
  await expect(runtime.openSession(wrong)).rejects.toThrow(/no option "toolset".*did you mean "toolsets"/);
  await runtime.close();
  await expect(createRuntime({ hme: home } as object)).rejects.toBeInstanceOf(HermesError);
  await expect(createRuntime({ approver: async () => "once" } as object)).rejects.toThrow(
    /runtime\.openSession/,
  );
});
