import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openAgent } from "../../src/agent/open-agent.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { tapeOfConversation } from "../../src/replay/record-tape.js";
import type { TapedCall } from "../../src/replay/tape.js";
import { replayModel, replayTools } from "../../src/testing/index.js";
import { defineTool } from "../../src/tool/define.js";
import { call, calls, said, says, scripted } from "../agent/support.js";
import { codeBlocks } from "../examples/doc-commands.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

const LOOK_UP = {
  name: "look_up",
  description: "Look a word up",
  parameters: {
    type: "object",
    properties: { word: { type: "string" }, limit: { type: "integer", default: 5 } },
    required: ["word"],
  },
};

function tapeFile(made: readonly Partial<TapedCall>[], tools: readonly object[] = [LOOK_UP]): string {
  const file = join(tempDir(), "tape.jsonl");
  const header = { type: "tape", version: 1, session: "s", of: "journal", tools };
  const lines = made.map((each, index) => ({
    type: "call",
    id: `c${index}`,
    name: "look_up",
    ok: true,
    ...each,
  }));
  writeFileSync(file, [header, ...lines].map((line) => JSON.stringify(line)).join("\n"));
  return file;
}

async function sessionWith(tools: ReturnType<typeof replayTools>) {
  const { runtime } = await testRuntime([], { tools });
  const session = await runtime.openSession();
  return async (args: unknown) => {
    const result = await session.call({ name: "look_up", arguments: args });
    return result.ok ? result.content : result.error?.message;
  };
}

describe("replayTools", () => {
  it("answers from the tape, in any order of keys and with defaults filled in", async () => {
    const tools = replayTools(
      tapeFile([
        { arguments: { limit: 3, word: "b" }, result: "three of b" },
        { arguments: '{"word":"a"}', result: '{"found":1}' },
      ]),
    );
    const ask = await sessionWith(tools);
    expect(await ask({ limit: 5, word: "a" })).toEqual([{ type: "text", text: '{"found":1}' }]);
    expect(tools.unused().map(({ id }) => id)).toEqual(["c0"]);
    expect(await ask({ word: "b", limit: "3" })).toEqual([{ type: "text", text: "three of b" }]);
    expect(tools.misses).toEqual([]);
    expect(tools.unused()).toEqual([]);
  });

  it("of equal calls each is answered once, in the order of the tape", async () => {
    const tools = replayTools(
      tapeFile([
        { arguments: { word: "a" }, result: "first" },
        { arguments: { word: "a" }, ok: false, error: { message: "gone by now" } },
      ]),
    );
    const ask = await sessionWith(tools);
    expect(await ask({ word: "a" })).toEqual([{ type: "text", text: "first" }]);
    expect(await ask({ word: "a" })).toContain("gone by now");
    expect(tools.misses).toEqual([]);
    expect(await ask({ word: "a" })).toContain("it was made 2 times with these arguments, and once more now");
    expect(tools.misses).toHaveLength(1);
  });

  it("what is not on it fails with the nearest difference and runs nowhere", async () => {
    let ran = 0;
    const real = defineTool({
      name: "look_up",
      description: "The real one",
      parameters: z.object({ word: z.string() }),
      handler: () => {
        ran += 1;
        return "live";
      },
    });
    const file = tapeFile([
      { arguments: { word: "apple", limit: 9 }, result: "x" },
      { arguments: { word: "pear" }, result: "y" },
      { arguments: { word: "lost" } },
    ]);
    const tools = replayTools(file);
    const { runtime } = await testRuntime([real], { tools });
    const session = await runtime.openSession();
    const missed = await session.call({ name: "look_up", arguments: { word: "apples", limit: 9 } });
    expect(missed).toMatchObject({ ok: false });
    expect(missed.error?.message).toContain(
      `look_up is not on the tape ${file} like this, so nothing was run: nearest is c0: word was "apple" and is "apples"`,
    );
    const lost = await session.call({ name: "look_up", arguments: { word: "lost" } });
    expect(lost.error?.message).toContain("the result of c2 was not kept");
    expect(tools.misses).toHaveLength(2);
    expect(ran).toBe(0);
  });
});

/** A conversation with one call, as the agent keeps it, and its tape. */
async function recordedStory() {
  const folder = tempDir();
  const { runtime, home, cwd } = await testRuntime([], { builtins: true, journal: true });
  writeFileSync(join(cwd, "notes.txt"), "milk\n");
  const store = await openConversations({
    sessionsDb: join(home, "sessions.db"),
    sessionsIndex: join(home, "sessions-index.db"),
  });
  const client = scripted(calls(call("c1", "read_file", { path: "notes.txt" })), says("You need milk."));
  const agent = await openAgent({ runtime, store, model: { client, name: "test:m" } });
  onTestEnd(async () => {
    await agent.close();
    await store.close();
  });
  await said(agent, "What do my notes say?");
  const [conversation] = await store.list();
  if (conversation === undefined) throw new Error("the conversation is not kept");
  const file = join(folder, "story.jsonl");
  let text = "";
  const messages = await store.messages(conversation.id);
  for await (const line of tapeOfConversation({ runtime, conversation, messages })) text += line;
  writeFileSync(file, text);
  return { file, folder };
}

describe("replayModel", () => {
  it("with replayTools plays a recorded conversation again; a changed question is a miss", async () => {
    const { file } = await recordedStory();
    const play = async (question: string) => {
      const tools = replayTools(file);
      const { runtime, home } = await testRuntime([], { tools });
      const store = await openConversations({
        sessionsDb: join(home, "sessions.db"),
        sessionsIndex: join(home, "sessions-index.db"),
      });
      const model = { client: replayModel(file, { system: false }), name: "test:m" };
      const agent = await openAgent({ runtime, store, model });
      onTestEnd(async () => {
        await agent.close();
        await store.close();
      });
      return { tools, ...(await said(agent, question)) };
    };
    const { tools, result } = await play("What do my notes say?");
    expect(result).toMatchObject({ stop: "end", text: "You need milk." });
    expect(tools.misses).toEqual([]);
    expect(tools.unused()).toEqual([]);

    const changed = await play("What do my lists say?");
    expect(changed.result).toMatchObject({ stop: "error" });
    expect(changed.events).toContainEqual(
      expect.objectContaining({
        type: "error",
        message: expect.stringContaining(
          'nearest is request 1: [0].content was "What do my notes say?" and is "What do my lists say?"',
        ),
      }),
    );
  });

  it("notices a changed system prompt, and a tool that is no longer offered", async () => {
    const { file } = await recordedStory();
    const model = replayModel(file);
    const ask = async (request: Parameters<typeof model.stream>[0]) => {
      for await (const _ of model.stream(request));
    };
    const tools = [{ name: "read_file", description: "", parameters: {} }];
    const messages = [
      { role: "system" as const, content: "another one" },
      { role: "user" as const, content: "What do my notes say?" },
    ];
    await expect(ask({ messages, tools })).rejects.toThrow("nearest is request 1: [0].content was");
    await expect(ask({ messages, tools: [] })).rejects.toThrow("no longer offered read_file");
  });
});

describe("docs/replay.md", () => {
  it("its test runs as it stands", async () => {
    const { file, folder } = await recordedStory();
    const [snippet = ""] = codeBlocks("docs/replay.md", "ts");
    const script = snippet
      .replace(/^import .*$/gm, "")
      .replaceAll('"story.jsonl"', JSON.stringify(file))
      .replace("userTools: false", `userTools: false, home: ${JSON.stringify(join(folder, "home"))}`);
    const names = ["assert", "createAgent", "createRuntime", "replayModel", "replayTools"];
    const { default: assert } = await import("node:assert");
    const { createAgent, createRuntime } = await import("../../src/index.js");
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor;
    const run = new AsyncFunction(...names, script);
    await run(assert, createAgent, createRuntime, replayModel, replayTools);
  });
});
