import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAgent, createRuntime, defineTool, ToolRegistry } from "../../src/index.js";
import { until } from "../server/support.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { call, calls, played, says, scripted } from "./support.js";

const WRITES = calls(call("w1", "write_file", { path: "note.txt", content: "hello" }));

describe("createAgent", () => {
  it("takes a client of one's own, makes runtime and conversations itself, and closes them", async () => {
    const home = tempDir();
    const cwd = tempDir();
    const agent = await createAgent({
      model: scripted(WRITES, says("Done.")),
      toolsets: ["file"],
      home,
      cwd,
    });
    const { events, result } = await played(agent.send("write a note"));
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("hello");
    expect(result).toMatchObject({
      text: "Done.",
      stop: "end",
      model: "custom",
      session: agent.conversation,
    });
    expect(events.map(({ type }) => type)).toEqual(["init", "tool_use", "tool_result", "text", "result"]);
    await agent.close();
    await agent.close();
    expect(() => agent.session.call({ name: "read_file" })).toThrow("closed");
    expect(existsSync(join(home, "sessions.db"))).toBe(true);
  });

  it("goes on with a conversation that another agent began", async () => {
    const home = tempDir();
    const first = await createAgent({ model: scripted(says("Blue.")), home, cwd: tempDir() });
    await played(first.send("a colour?"));
    await first.close();
    const model = scripted(says("I said blue."));
    await using again = await createAgent({ model, home, conversation: first.conversation });
    await played(again.send("which one?"));
    expect(model.asked[0]?.messages.map(({ content }) => content)).toEqual([
      expect.stringContaining("You are Hermes"),
      "a colour?",
      "Blue.",
      "which one?",
    ]);
  });

  it("asks the model that a text names, in its provider's own format", async () => {
    const server = await startScriptedModel({ steps: [{ text: "Yes." }] });
    onTestEnd(() => server.close());
    const { runtime } = await testRuntime([], {
      env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.url },
    });
    await using agent = await createAgent({ model: "openai:gpt-x", runtime });
    const { result } = await played(agent.send("there?"));
    expect(result).toMatchObject({ text: "Yes.", model: "openai:gpt-x" });
    expect(server.requests[0]).toMatchObject({ format: "chat", model: "gpt-x" });
  });

  it("leaves a runtime open that it was given", async () => {
    const { runtime } = await testRuntime();
    const agent = await createAgent({ model: scripted(says("ok")), runtime });
    await agent.close();
    const session = await runtime.openSession();
    expect(await session.definitions()).toEqual([]);
  });

  it("has tools of the program, and words of the program for its prompt", async () => {
    const greet = defineTool({
      name: "greet",
      description: "Greets",
      parameters: { type: "object", properties: { who: { type: "string" } } },
      handler: ({ who }) => `Hello, ${who}!`,
    });
    const model = scripted(calls(call("g", "greet", { who: "Ada" })), says("Greeted."));
    await using agent = await createAgent({
      model,
      tools: [greet],
      toolsets: ["greet"],
      home: tempDir(),
      instructions: "Speak like a pirate.",
    });
    const { events } = await played(agent.send("greet Ada"));
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
      ok: true,
      content: [{ type: "text", text: expect.stringContaining("Hello, Ada!") }],
    });
    expect(model.asked[0]?.messages[0]?.content).toContain("Speak like a pirate.");
  });

  it("refuses options that do not exist, and those that contradict each other", async () => {
    await expect(createAgent({ toolset: ["file"] } as object)).rejects.toThrow(
      /no option "toolset".*toolsets/s,
    );
    const { runtime } = await testRuntime();
    await expect(createAgent({ runtime, home: "/x" })).rejects.toThrow("home only where");
  });

  it("says how to get a model where there is none, and leaves nothing open", async () => {
    const home = tempDir();
    const runtime = await createRuntime({
      home,
      registry: new ToolRegistry(),
      userTools: false,
      env: { HOME: home, OPENAI_API_KEY: "" },
      flags: { "model.provider": "anthropic" },
    });
    onTestEnd(() => runtime.close());
    await expect(createAgent({ runtime })).rejects.toThrow(/ANTHROPIC_API_KEY/);
  });

  it("does without approval only what needs none: nobody is asked where no approver is given", async () => {
    const cwd = tempDir();
    const denied = scripted(calls(call("t", "terminal", { command: "rm -rf build" })), says("I may not."));
    await using agent = await createAgent({ model: denied, home: tempDir(), cwd, toolsets: ["terminal"] });
    const { result } = await played(agent.send("clean up"));
    expect(result.tool_calls).toMatchObject([{ id: "t", ok: false, error: { code: "denied" } }]);
  });
});

describe("an agent", () => {
  it("stops the turn that runs and those that wait for it", async () => {
    const asked: string[] = [];
    const model = {
      async *stream({
        messages,
        signal,
      }: {
        messages: readonly { content: unknown }[];
        signal?: AbortSignal | undefined;
      }) {
        asked.push(String(messages.at(-1)?.content));
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
        yield { type: "text" as const, text: "never" };
      },
    };
    await using agent = await createAgent({ model, home: tempDir(), cwd: tempDir(), toolsets: ["file"] });
    const turns = [played(agent.send("first")), played(agent.send("second"))];
    await until(() => asked.length === 1);
    await agent.stop();
    const ended = await Promise.all(turns);
    expect(ended.map(({ result }) => result.stop)).toEqual(["interrupted", "interrupted"]);
    expect(asked).toEqual(["first"]);
  });
});
