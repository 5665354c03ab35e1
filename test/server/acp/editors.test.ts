import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/index.js";
import { until } from "../support.js";
import { editing, type Person } from "./editor.js";

const { session } = acp.methods.agent;

const deny: Person = () => ({ outcome: { outcome: "selected", optionId: "deny" } });

function textIn(updates: readonly acp.SessionNotification[]): string {
  return updates
    .map(({ update }) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
        ? update.content.text
        : "",
    )
    .join("");
}

/** Waits until its call is stopped. */
function gated() {
  const seen = { started: 0, stopped: 0 };
  const tool = defineTool({
    name: "wait_here",
    toolset: "file",
    description: "Waits until it is stopped",
    parameters: { type: "object", properties: {} },
    handler: (_args, ctx) =>
      new Promise<string>((resolve) => {
        seen.started += 1;
        ctx.signal.addEventListener("abort", () => {
          seen.stopped += 1;
          resolve("stopped");
        });
      }),
  });
  return { tool, seen };
}

describe("hermes acp, with the SDK's own client", () => {
  it("says what it can do, in standard fields", async () => {
    const { agent } = await editing([]);
    const said = await agent.request(acp.methods.agent.initialize, { protocolVersion: 1 });
    expect(said).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "hermes-tools" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { resume: {}, list: {}, close: {} },
      },
    });
  });

  it("answers a prompt, and shows an edit with what was there before", async () => {
    const { prompt, updates, cwd, model } = await editing([
      {
        text: "I change it.",
        calls: [{ id: "w", name: "write_file", arguments: { path: "note.txt", content: "new\n" } }],
      },
      { text: " Done." },
    ]);
    writeFileSync(join(cwd, "note.txt"), "old\n");
    expect(await prompt("change the note")).toMatchObject({ stopReason: "end_turn" });
    expect(model.complaints).toEqual([]);
    expect(textIn(updates)).toBe("I change it. Done.");
    const path = join(cwd, "note.txt");
    const tools = updates
      .map(({ update }) => update)
      .filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"));
    expect(tools).toMatchObject([
      {
        sessionUpdate: "tool_call",
        kind: "edit",
        status: "in_progress",
        title: expect.stringContaining("note.txt"),
        locations: [{ path }],
        rawInput: { path: "note.txt", content: "new\n" },
      },
      { sessionUpdate: "tool_call_update", status: "completed" },
    ]);
    expect(tools[1]).toMatchObject({
      content: expect.arrayContaining([{ type: "diff", path, oldText: "old\n", newText: "new\n" }]),
    });
    expect(readFileSync(path, "utf8")).toBe("new\n");
  });

  it("a model that only thought has its thoughts taken for its answer", async () => {
    const { prompt, updates } = await editing([{ reasoning: "It is blue." }]);
    await prompt("which colour?");
    expect(textIn(updates)).toBe("It is blue.");
  });

  it("tells reads, commands and plans apart", async () => {
    const { prompt, updates } = await editing([
      {
        calls: [
          { id: "r", name: "read_file", arguments: { path: "missing.txt" } },
          { id: "t", name: "terminal", arguments: { command: "echo hi" } },
          {
            id: "p",
            name: "todo",
            arguments: { todos: [{ id: "1", content: "paint", status: "in_progress" }] },
          },
        ],
      },
      { text: "ok" },
    ]);
    await prompt("go");
    const all = updates.map(({ update }) => update);
    const kinds = all.flatMap((update) => (update.sessionUpdate === "tool_call" ? [update.kind] : []));
    expect(kinds).toEqual(["read", "execute", "think"]);
    expect(all).toContainEqual(
      expect.objectContaining({
        sessionUpdate: "plan",
        entries: [expect.objectContaining({ content: "paint", status: "in_progress" })],
      }),
    );
    const ended = all.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" ? [update.status] : [],
    );
    expect(ended.toSorted()).toEqual(["completed", "completed", "failed"]);
  });

  it("asks before what is dangerous: yes runs it, no does not, and a word nobody offered is a no", async () => {
    const people: readonly (readonly [person: Person | undefined, gone: boolean])[] = [
      [undefined, true],
      [deny, false],
      [() => ({ outcome: { outcome: "cancelled" } }), false],
      [() => ({ outcome: { outcome: "selected", optionId: "yes please" } }), false],
    ];
    for (const [person, gone] of people) {
      const { prompt, cwd, asked } = await editing(
        [
          { calls: [{ id: "t", name: "terminal", arguments: { command: "rm -rf build.txt" } }] },
          { text: "ok" },
        ],
        person === undefined ? {} : { person },
      );
      writeFileSync(join(cwd, "build.txt"), "x");
      await prompt("clean up");
      expect(asked).toHaveLength(1);
      expect(existsSync(join(cwd, "build.txt"))).toBe(!gone);
    }
  });

  it("lesson 102: a question shows the whole command, and nothing hides in private fields", async () => {
    const command = `rm -rf ${"a-long-name-".repeat(30)}end`;
    const { prompt, asked, updates } = await editing(
      [{ calls: [{ id: "t", name: "terminal", arguments: { command } }] }, { text: "ok" }],
      { person: deny },
    );
    await prompt("clean up");
    const [question] = asked;
    expect(question?.toolCall).toMatchObject({
      title: expect.stringContaining(command),
      kind: "execute",
      rawInput: { command },
    });
    expect(JSON.stringify(question?.toolCall.content)).toContain(command);
    expect(question?.options.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["allow_once", "reject_once"]),
    );
    const announced = updates.find(({ update }) => update.sessionUpdate === "tool_call")?.update;
    expect(announced).toMatchObject({ toolCallId: question?.toolCall.toolCallId });
    expect(JSON.stringify([question, ...updates])).not.toContain('"_meta"');
  });

  it("a yes for the session is not asked again", async () => {
    const rm = (id: string) => ({
      calls: [{ id, name: "terminal", arguments: { command: "rm -rf build.txt" } }],
    });
    const { prompt, asked } = await editing([rm("a"), { text: "1" }, rm("b"), { text: "2" }], {
      person: ({ options }) => ({
        outcome: {
          outcome: "selected",
          optionId: options.find(({ optionId }) => optionId === "session")?.optionId ?? "deny",
        },
      }),
    });
    await prompt("once");
    await prompt("again");
    expect(asked).toHaveLength(1);
  });

  it("stops what runs when the person cancels", async () => {
    const { tool, seen } = gated();
    const { prompt, agent, sessionId, model } = await editing(
      [{ calls: [{ id: "g", name: "wait_here" }] }, { text: "never" }],
      { tools: [tool] },
    );
    const turn = prompt("wait");
    await until(() => seen.started === 1);
    await agent.notify(session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: "cancelled" });
    expect(seen.stopped).toBe(1);
    expect(model.requests).toHaveLength(1);
  });

  it("lesson 101: load tells what was said, resume does not", async () => {
    const { prompt, connect, sessionId, cwd } = await editing([
      { text: "Reading.", calls: [{ id: "r", name: "read_file", arguments: { path: "x" } }] },
      { text: "Nothing there." },
    ]);
    await prompt("read x");
    const loaded = await connect();
    await loaded.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
    expect(loaded.updates.map(({ update }) => update.sessionUpdate)).toEqual([
      "user_message_chunk",
      "agent_message_chunk",
      "tool_call",
      "agent_message_chunk",
    ]);
    const resumed = await connect();
    await resumed.agent.request(session.resume, { sessionId, cwd, mcpServers: [] });
    expect(resumed.updates).toEqual([]);
    const { sessions } = await resumed.agent.request(session.list, { cwd });
    expect(sessions).toMatchObject([{ sessionId, cwd, title: expect.stringContaining("read x") }]);
  });

  it("lesson 101: load in the middle of a prompt, then cancel, ends the prompt", async () => {
    const { tool, seen } = gated();
    const { prompt, agent, sessionId, cwd, updates } = await editing(
      [{ calls: [{ id: "g", name: "wait_here" }] }, { text: "never" }],
      { tools: [tool] },
    );
    const turn = prompt("wait");
    await until(() => seen.started === 1);
    await agent.request(session.load, { sessionId, cwd, mcpServers: [] });
    expect(updates.some(({ update }) => update.sessionUpdate === "user_message_chunk")).toBe(true);
    await agent.notify(session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: "cancelled" });
    expect(seen.stopped).toBe(1);
  });

  it("takes files and pictures that the person put into the prompt", async () => {
    const { agent, sessionId, model } = await editing([{ text: "I see." }]);
    await agent.request(session.prompt, {
      sessionId,
      prompt: [
        { type: "text", text: "look at" },
        { type: "resource_link", name: "main.ts", uri: "file:///p/main.ts" },
        { type: "resource", resource: { uri: "file:///p/a.txt", text: "the fox" } },
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      ],
    });
    const last = model.requests[0]?.messages.at(-1);
    expect(last).toMatchObject({ images: 1 });
    expect(last?.text).toContain("file:///p/main.ts");
    expect(last?.text).toContain("the fox");
  });

  it("says why a prompt failed, and knows only sessions that are there", async () => {
    const { prompt } = await editing([{ status: 401, error: "no" }]);
    await expect(prompt("hi")).rejects.toThrow(/key|refused/i);
    await expect(prompt("hi", "nobody")).rejects.toThrow();
  });
});
