import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAgent } from "../../src/agent/open-agent.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { tapeOfConversation, tapeOfJournal } from "../../src/replay/record-tape.js";
import { replayTape } from "../../src/replay/replay.js";
import { parseTape, type Tape, tapeLine } from "../../src/replay/tape.js";
import type { Runtime } from "../../src/runtime/runtime.js";
import { defineTool } from "../../src/tool/define.js";
import { call, calls, said, says, scripted } from "../agent/support.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

async function tapeFrom(lines: AsyncIterable<string> | undefined): Promise<{ tape: Tape; text: string }> {
  let text = "";
  for await (const line of lines ?? []) text += line;
  return { tape: parseTape(text, "the tape"), text };
}

/** Three calls that really ran, as a tape. */
async function recorded(home: string, cwd: string) {
  const { runtime } = await testRuntime([], { builtins: true, journal: true, home, cwd });
  writeFileSync(join(cwd, "notes.txt"), "one\ntwo\n");
  const session = await runtime.openSession();
  await session.call({ id: "a", name: "read_file", arguments: { path: "notes.txt" } });
  await session.call({ id: "b", name: "write_file", arguments: { path: "out.txt", content: "x" } });
  await session.call({ id: "c", name: "read_file", arguments: { pth: 7 } });
  return { runtime, ...(await tapeFrom(await tapeOfJournal(runtime, session.id))) };
}

const later = async (home: string, cwd: string, rules = ""): Promise<Runtime> => {
  if (rules !== "") writeFileSync(join(home, "hermes_permissions.yaml"), rules);
  return (await testRuntime([], { builtins: true, home, cwd })).runtime;
};

describe("a tape of a session of the journal", () => {
  it("holds its calls with arguments, effects and decision, and the schemas of their tools", async () => {
    const cwd = tempDir();
    const { tape } = await recorded(tempDir(), cwd);
    expect(tape.header).toMatchObject({ version: 1, of: "journal", cwd });
    expect(tape.header.tools.map(({ name }) => name)).toEqual(["read_file", "write_file"]);
    expect(tape.calls).toMatchObject([
      {
        id: "a",
        name: "read_file",
        arguments: { path: "notes.txt" },
        decision: "allow",
        ok: true,
        effects: [{ action: "file:read", resource: join(cwd, "notes.txt") }],
        result: expect.stringContaining("two"),
      },
      { id: "b", name: "write_file", ok: true },
      { id: "c", ok: false, error: { code: "invalid_arguments" } },
    ]);
  });

  it("says when a result was kept only in part", async () => {
    const long = defineTool({
      name: "long",
      description: "Says much",
      parameters: { type: "object", properties: { size: { type: "integer" } } },
      maxResultSizeChars: 500_000,
      handler: ({ size = 0 }) => "x".repeat(size),
    });
    const { runtime } = await testRuntime([long], { journal: true });
    const session = await runtime.openSession();
    await session.call({ id: "whole", name: "long", arguments: { size: 1_000 } });
    await session.call({ id: "cut", name: "long", arguments: { size: 100_000 } });
    const { tape } = await tapeFrom(await tapeOfJournal(runtime, session.id));
    expect(tape.calls.map(({ id, result_cut }) => [id, result_cut])).toEqual([
      ["whole", undefined],
      ["cut", true],
    ]);
    expect(tape.calls[1]?.result).toMatch(/^x{1000}/);
  });

  it("replayed under the same rules is the same, and nothing runs", async () => {
    const [home, cwd] = [tempDir(), tempDir()];
    const { tape } = await recorded(home, cwd);
    const runtime = await later(home, cwd);
    writeFileSync(join(cwd, "out.txt"), "changed since");
    expect(await replayTape(runtime, tape)).toEqual({
      session: tape.header.session,
      calls: 3,
      same: 3,
      different: [],
      unknown: 0,
    });
    expect(readFileSync(join(cwd, "out.txt"), "utf8")).toBe("changed since");
  });

  it("says in words what today's rules would do differently", async () => {
    const [home, cwd] = [tempDir(), tempDir()];
    const { tape } = await recorded(home, cwd);
    const runtime = await later(home, cwd, "global: {deny: [file:write]}");
    const { different, same } = await replayTape(runtime, tape);
    expect(same).toBe(2);
    expect(different).toEqual([
      {
        id: "b",
        name: "write_file",
        why: "it was allowed (profile:default/*) and would be denied (global/file:write): Permission file:write is denied in the current profile",
      },
    ]);
  });

  it("says that a tool is gone, that arguments no longer fit, that something else would be touched", async () => {
    const [home, cwd] = [tempDir(), tempDir()];
    const { tape } = await recorded(home, cwd);
    const runtime = await later(home, cwd);
    const [first] = tape.calls;
    if (first === undefined) throw new Error("nothing was recorded");
    const changed: Tape = {
      ...tape,
      calls: [
        { ...first, id: "gone", name: "read_scroll" },
        { ...first, id: "invalid", arguments: { path: { deep: true } } },
        {
          ...first,
          id: "touches",
          effects: [{ action: "file:read", resource: "/elsewhere", mode: "read" }],
        },
        { ...first, id: "cut", arguments_cut: true },
      ],
    };
    const { different, unknown, same } = await replayTape(runtime, changed);
    expect({ unknown, same }).toEqual({ unknown: 1, same: 0 });
    expect(Object.fromEntries(different.map(({ id, why }) => [id, why]))).toEqual({
      gone: expect.stringMatching(/^the tool is gone: Unknown tool: read_scroll/),
      invalid: expect.stringMatching(/^its arguments are no longer valid: .*path/s),
      touches: `it would also touch file:read ${join(cwd, "notes.txt")}; it would no longer touch file:read /elsewhere`,
    });
  });
});

/** What an agent did, and its conversation as a tape. */
async function tapedTurn(client: ReturnType<typeof scripted>) {
  const { runtime, home } = await testRuntime([], { builtins: true, journal: true });
  const store = await openConversations({
    sessionsDb: join(home, "sessions.db"),
    sessionsIndex: join(home, "sessions-index.db"),
  });
  const agent = await openAgent({
    runtime,
    store,
    approver: async () => "once",
    model: { client, name: "test:m" },
  });
  onTestEnd(async () => {
    await agent.close();
    await store.close();
  });
  await said(agent, "write it");
  const [conversation] = await store.list();
  if (conversation === undefined) throw new Error("the conversation is not kept");
  const messages = await store.messages(conversation.id);
  const { tape } = await tapeFrom(tapeOfConversation({ runtime, conversation, messages }));
  return { runtime, conversation, tape };
}

describe("a tape of a conversation", () => {
  it("gives each call its own answer where a model uses one id again and again", async () => {
    const { tape } = await tapedTurn(
      scripted(
        calls(call("call_0", "read_file", { path: "missing.txt" })),
        calls(call("call_0", "write_file", { path: "a.txt", content: "hello" })),
        says("done"),
      ),
    );
    expect(tape.calls).toMatchObject([
      { name: "read_file", ok: false },
      { name: "write_file", ok: true },
    ]);
  });

  it("has the messages in order, each call with what the model was told", async () => {
    const { runtime, conversation, tape } = await tapedTurn(
      scripted(
        calls(call("c1", "write_file", { path: "a.txt", content: "hello" })),
        calls(call("c2", "todo", { todos: [{ id: "1", content: "rest", status: "pending" }] })),
        says("done"),
      ),
    );
    expect(tape.header).toMatchObject({ of: "conversation", session: conversation.id, model: "test:m" });
    expect(tape.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(tape.calls).toMatchObject([
      {
        id: "c1",
        name: "write_file",
        ok: true,
        arguments: { path: "a.txt", content: "hello" },
        decision: "allow",
        effects: [{ action: "file:write" }],
      },
      { id: "c2", name: "todo", ok: true, result: expect.stringContaining("rest") },
    ]);
    // `todo` needs an agent, and there was one.
    expect(await replayTape(runtime, tape)).toMatchObject({ calls: 2, same: 2, different: [] });
  });
});

describe("secrets", () => {
  it("that become known later are masked when the tape is written", async () => {
    const secret = "correct-horse-battery-9a8b7c";
    const [home, cwd] = [tempDir(), tempDir()];
    const { runtime: before } = await testRuntime([], { builtins: true, journal: true, home, cwd });
    const session = await before.openSession();
    await session.call({
      id: "a",
      name: "write_file",
      arguments: { path: "k.txt", content: `key ${secret}` },
    });
    await before.close();
    const { runtime } = await testRuntime([], {
      builtins: true,
      journal: true,
      home,
      cwd,
      env: { PATH: process.env.PATH, HOME: home, SERVICE_TOKEN: secret },
    });
    const { text, tape } = await tapeFrom(await tapeOfJournal(runtime, session.id));
    expect(text).not.toContain(secret);
    expect(tape.calls).toHaveLength(1);
  });

  it("that stand across the structure of a line take their fields with them", () => {
    const redact = (text: string) => text.replaceAll('"b":"ab"', "[x");
    const line = tapeLine(
      { type: "call", id: "1", name: "t", arguments: { b: "ab" }, ok: true, result: "r", at: "" },
      redact,
    );
    expect(JSON.parse(line)).toMatchObject({ id: "1", arguments: "[REDACTED]", result: "[REDACTED]" });
  });
});

describe("a file that is no tape", () => {
  it.each([
    ["", "its first line is not the header of a tape"],
    ['{"type":"tape","version":9,"session":"s","tools":[]}', "it has version 9"],
    ['{"type":"tape","version":1,"session":"s","tools":[]}\n{', "line 2 is not JSON"],
    [
      '{"type":"tape","version":1,"session":"s","tools":[]}\n{"type":"x"}',
      "line 2 is neither a message nor a call",
    ],
  ])("is refused with what is wrong: %j", (text, why) => {
    expect(() => parseTape(text, "x.jsonl")).toThrow(why);
  });
});
