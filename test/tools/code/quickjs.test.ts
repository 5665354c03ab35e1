import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { echo, type ScriptSession, scriptSession } from "./quickjs-session.js";

const NO_ARGUMENTS = { type: "object", properties: {} } as const;

/** Two that are under way at the same time see each other. */
let together = 0;
let mostTogether = 0;

const TOOLS = [
  echo,
  defineTool({
    name: "double",
    description: "Doubles a number",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    effects: () => [],
    async handler({ n }) {
      together += 1;
      mostTogether = Math.max(mostTogether, together);
      await delay(20);
      together -= 1;
      return { twice: n * 2 };
    },
  }),
  defineTool({
    name: "plain_text",
    description: "Answers in words, not in fields",
    parameters: NO_ARGUMENTS,
    handler: () => "just words",
  }),
  defineTool({
    name: "mcp_weather_forecast",
    description: "Tells the weather of the coming days in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    handler: ({ city }) => ({ city, sky: "clear" }),
  }),
  defineTool({
    name: "odd-name.v2",
    description: "Has a name that is no identifier",
    parameters: NO_ARGUMENTS,
    handler: () => ({ odd: true }),
  }),
  defineTool({
    name: "waits",
    description: "Waits until it is told to stop",
    parameters: NO_ARGUMENTS,
    effects: () => [],
    handler: async (_args, ctx) => {
      onWaiting();
      await delay(20_000, undefined, { signal: ctx.signal }).catch(() => undefined);
      stopped = ctx.signal.aborted;
      return {};
    },
  }),
] as unknown as readonly AnyTool[];
let stopped = false;
let onWaiting = (): void => undefined;

let scripts: ScriptSession;
beforeAll(async () => {
  scripts = await scriptSession(TOOLS);
});
afterAll(() => scripts.close());

const resultOf = async (code: string) => {
  const outcome = await scripts.run(code);
  expect(outcome.error).toBeUndefined();
  return outcome.result;
};

describe("a script in code mode", () => {
  it.each([
    ["its last value", "const a = 20; a + 1", 21],
    ["what it returns", "if (true) return { a: [1, null, 'x'] };", { a: [1, null, "x"] }],
    ["what it awaits at the top", "const r = await tools.double({ n: 4 });\nr.twice", 8],
    ["the promise it ends with", "async function main() { return 'from main' }\nmain()", "from main"],
    ["the function it consists of", "async ({ double }) => (await double({ n: 1 })).twice", 2],
    ["nothing", "const a = 1;", undefined],
    ["what JSON cannot hold, as text", "const a = { n: 1 }; a.self = a; a", "{ n: 1, self: [circular] }"],
  ])("gives back %s", async (_what, code, expected) => {
    expect(await resultOf(code)).toEqual(expected);
  });

  it("calls tools of every kind of name, and gets fields or text", async () => {
    expect(
      await resultOf(
        `[await tools.plain_text(), await tools["odd-name.v2"]({}), await tools.mcp_weather_forecast({ city: "Oslo" })]`,
      ),
    ).toEqual(["just words", { odd: true }, { city: "Oslo", sky: "clear" }]);
  });

  it("runs calls side by side", async () => {
    mostTogether = 0;
    const code = "(await Promise.all([1, 2, 3].map((n) => tools.double({ n })))).map((r) => r.twice)";
    expect(await resultOf(code)).toEqual([2, 4, 6]);
    expect(mostTogether).toBe(3);
  });

  it("sees a failing tool as an error with code and hint", async () => {
    const code = `
      const told = (error) => ({ name: error.name, code: error.code, tool: error.tool, hint: typeof error.hint, is: error instanceof ToolError });
      const bad = await tools.double({ n: "many" }).catch(told);
      const missing = await tools.doubel({ n: 1 }).catch((error) => error.code + ": " + error.message);
      return { bad, missing };`;
    expect(await resultOf(code)).toEqual({
      bad: { name: "ToolError", code: "invalid_arguments", tool: "double", hint: "string", is: true },
      missing: expect.stringMatching(/^not_found: Unknown tool/),
    });
  });

  it("fails with the error of a tool it does not catch, and the line of its own", async () => {
    const outcome = await scripts.run("const a = 1;\nawait tools.double({});");
    expect(outcome).toMatchObject({
      status: "error",
      error: { name: "ToolError", code: "invalid_arguments" },
      toolCallsMade: 1,
    });
    expect(await scripts.run("\n\nnull.x")).toMatchObject({ error: { name: "TypeError", line: 3 } });
    expect(await scripts.run("let a =\n;")).toMatchObject({ error: { name: "SyntaxError", line: 2 } });
    expect(await scripts.run('import fs from "node:fs"')).toMatchObject({
      status: "error",
      error: { hint: expect.stringContaining("no modules") },
    });
  });

  it("finds tools by words and learns their types", async () => {
    const code = `const [first] = await searchTools("weather in a city"); return [first, await describeTool(first.name)]`;
    const [found, declaration] = (await resultOf(code)) as [{ name: string; signature: string }, string];
    expect(found).toMatchObject({
      name: "mcp_weather_forecast",
      signature: "mcp_weather_forecast(city: string)",
    });
    expect(declaration).toContain("mcp_weather_forecast(args: { city: string }): Promise<any>;");
    expect(await resultOf("await describeTool('nope').catch((e) => e.code)")).toBe("not_found");
    expect(
      await resultOf("[Object.keys(tools).includes('double'), 'double' in tools, 'nope' in tools]"),
    ).toEqual([true, true, false]);
  });

  it("has its words collected", async () => {
    const code = `console.log("a", 1, { b: [true] }); console.error(new Error("oh")); console.warn("careful")`;
    const { output, stderr } = await scripts.run(code);
    expect(output).toBe("a 1 { b: [true] }\n");
    expect(stderr).toMatch(/^Error: oh\n {4}at .*script\.js:1:\d+\)\ncareful\n$/);
  });

  it("has timers, which end with it", async () => {
    const code = `
      setTimeout(() => console.log("too late"), 30_000);
      const order = [];
      await new Promise((resolve) => {
        const interval = setInterval(() => {
          order.push("tick");
          if (order.length < 3) return;
          clearInterval(interval);
          setTimeout(resolve, 1);
        }, 2);
      });
      order.length === 3`;
    const outcome = await scripts.run(code);
    expect(outcome).toMatchObject({ status: "success", result: true, output: "" });
    expect(outcome.durationMs).toBeLessThan(10_000);
  });

  it("hears its timers while a call is under way, and answers while a timer is", async () => {
    const code = `const heard = [];
      setTimeout(() => heard.push("early"), 1);
      const late = new Promise((resolve) => setTimeout(() => resolve("late"), 60));
      await tools.double({ n: 1 });
      heard.push("answer", await late, (await tools.double({ n: 2 })).twice);
      return heard`;
    expect((await scripts.run(code)).result).toEqual(["early", "answer", "late", 4]);
  });

  it("is not over before the calls it began are", async () => {
    const outcome = await scripts.run("tools.double({ n: 1 }).then((r) => console.log(r.twice)); 'early'");
    expect(outcome).toMatchObject({ result: "early", output: "2\n", toolCallsMade: 1 });
    const failing = await scripts.run("tools.double({}); 'early'");
    expect(failing).toMatchObject({
      status: "success",
      stderr: expect.stringContaining("nothing awaited it"),
    });
  });

  it("is told at once when it waits for nothing", async () => {
    const outcome = await scripts.run("await new Promise(() => {})");
    expect(outcome).toMatchObject({
      status: "error",
      error: { message: expect.stringContaining("nothing will ever") },
    });
  });

  it("leaves nothing behind for the next one", async () => {
    await scripts.run("globalThis.left = 1; Object.prototype.left = 2; tools = null; console.log = null; 0");
    expect(await resultOf("[typeof left, ({}).left, typeof tools, typeof console.log]")).toEqual([
      "undefined",
      null,
      "object",
      "function",
    ]);
  });
});

describe("a script that is ended from outside", () => {
  it("stops, and so do its calls", async () => {
    const controller = new AbortController();
    onWaiting = () => controller.abort();
    stopped = false;
    const outcome = await scripts.run("console.log('begun'); await tools.waits()", {
      signal: controller.signal,
    });
    onWaiting = () => undefined;
    expect(outcome).toMatchObject({ status: "interrupted", output: "begun\n", toolCallsMade: 1 });
    expect(stopped).toBe(true);
  });

  it("stops at its time limit while it waits", async () => {
    const outcome = await scripts.run("await tools.waits()", { timeoutMs: 100 });
    expect(outcome).toMatchObject({ status: "timeout", error: { hint: expect.any(String) } });
  });

  it("does not hold the event loop up while it computes", async () => {
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 5);
    const outcome = await scripts.run("for (;;);", { timeoutMs: 300 });
    clearInterval(ticking);
    expect(outcome.status).toBe("timeout");
    expect(ticks).toBeGreaterThan(5);
  });
});

describe("an approval inside of a script", () => {
  const risky = defineTool({
    name: "risky",
    description: "Needs a yes",
    parameters: NO_ARGUMENTS,
    permissions: ["terminal:execute"],
    effects: () => [{ action: "terminal:execute", resource: "rm -rf build", mode: "execute" }],
    handler: () => ({ done: true }),
  }) as AnyTool;

  it("pauses it for longer than it may run, and then it goes on", async () => {
    let thinkingMs = 0;
    const asking = await scriptSession([risky, echo as AnyTool], {
      async ask() {
        await delay(thinkingMs);
        return "once";
      },
    });
    // What is loaded on the first of such calls does not belong to the time that is measured.
    await asking.run("await tools.risky()");
    thinkingMs = 1_500;
    const code = "console.log('before'); const r = await tools.risky(); console.log('after'); r.done";
    const outcome = await asking.run(code, { timeoutMs: 900 });
    expect(outcome).toMatchObject({ status: "success", result: true, output: "before\nafter\n" });
    expect(outcome.durationMs).toBeGreaterThan(1_400);
    await asking.close();
  });

  it("that is a no reaches the script as an error it can handle", async () => {
    const asking = await scriptSession([risky], { ask: async () => "deny" });
    expect((await asking.run("await tools.risky().catch((e) => e.code)")).result).toBe("denied");
    await asking.close();
  });
});
