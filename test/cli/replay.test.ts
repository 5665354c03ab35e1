import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import { createAgent, createRuntime } from "../../src/index.js";
import { replayModel, replayTools } from "../../src/testing/index.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { errorLine, hermes, hermesJson, linesOf, tempFolder } from "./hermes.js";

describe("hermes replay", () => {
  it("of a session of the journal or its tape: 0 while nothing has changed, 3 when the rules have", async () => {
    const home = tempFolder();
    const cwd = tempFolder();
    writeFileSync(join(cwd, "a.txt"), "hello\n");
    await hermes(["call", "read_file", "path=a.txt"], { home, cwd });
    const [recorded] = await hermesJson<{ session_id: string }[]>(["calls"], { home });
    const session = recorded?.session_id ?? "";

    const exported = await hermes(["sessions", "export", session, "--format", "tape"], { home });
    const file = join(cwd, "story.jsonl");
    writeFileSync(file, exported.stdout);
    for (const wanted of [session, file]) {
      const same = await hermes(["replay", wanted, "--json"], { home });
      expect(same.code).toBe(0);
      expect(JSON.parse(same.stdout)).toEqual({ session, calls: 1, same: 1, different: [], unknown: 0 });
    }

    writeFileSync(join(home, "hermes_permissions.yaml"), "global: {deny: [file:read]}\n");
    const changed = await hermes(["replay", file, "--json"], { home });
    expect(changed.code).toBe(3);
    expect(JSON.parse(changed.stdout)).toMatchObject({
      same: 0,
      different: [{ name: "read_file", why: expect.stringContaining("would be denied (global/file:read)") }],
    });
    const shown = await hermes(["replay", file], { home });
    expect(shown.stdout).toContain("1 calls, 0 as they were");
  });

  it("says what it was looking for", async () => {
    const home = tempFolder();
    const missing = await hermes(["replay", "nowhere", "--json"], { home });
    expect(missing.code).toBe(2);
    expect(errorLine(missing)).toMatchObject({ code: "not_found" });
    writeFileSync(join(home, "x.jsonl"), "hello\n");
    const wrong = await hermes(["replay", join(home, "x.jsonl"), "--json"], { home });
    expect(errorLine(wrong)).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("line 1 is not JSON"),
    });
  });
});

describe("a chat with a model", () => {
  it("becomes a tape without its secrets, is replayed under today's rules, and is played again as a test", async () => {
    const home = tempFolder();
    const cwd = tempFolder();
    const secret = "sk-live-9f8e7d6c5b4a39281706";
    writeFileSync(join(cwd, "notes.txt"), `milk and ${secret}\n`);
    const server = await startScriptedModel({
      steps: [
        { calls: [{ id: "r1", name: "read_file", arguments: { path: "notes.txt" } }] },
        { calls: [{ id: "w1", name: "write_file", arguments: { path: "list.txt", content: "milk" } }] },
        { text: "Milk is on the list." },
      ],
    });
    const env = {
      HERMES_MODEL_PROVIDER: "compatible",
      HERMES_MODEL: "scripted",
      HERMES_MODEL_BASE_URL: server.url,
      HERMES_MODEL_API_KEY: "test-key",
      SHOP_API_KEY: secret,
    };
    const chat = await hermes(["chat", "-q", "What do I need?", "--json"], { home, cwd, env });
    await server.close();
    const { session } = JSON.parse(chat.stdout) as { session: string };

    const exported = await hermes(["sessions", "export", session, "--format", "tape"], { home, cwd, env });
    expect(exported.stdout).not.toContain(secret);
    const file = join(cwd, "story.jsonl");
    writeFileSync(file, exported.stdout);
    const taped = linesOf(exported.stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(taped.filter(({ type }) => type === "call")).toMatchObject([
      { id: "r1", name: "read_file", decision: "allow", effects: [{ resource: join(cwd, "notes.txt") }] },
      { id: "w1", name: "write_file", decision: "allow", ok: true },
    ]);
    expect(await hermesJson(["replay", file], { home, cwd })).toMatchObject({ calls: 2, same: 2 });

    const tools = replayTools(file);
    const runtime = await createRuntime({
      tools,
      builtins: false,
      userTools: false,
      home: tempFolder(),
      cwd,
    });
    const agent = await createAgent({ runtime, model: replayModel(file, { system: false }) });
    const events: AgentEvent[] = [];
    for await (const event of agent.send("What do I need?")) events.push(event);
    await agent.close();
    await runtime.close();
    expect(events.at(-1)).toMatchObject({ type: "result", stop: "end", text: "Milk is on the list." });
    expect({ misses: tools.misses, unused: tools.unused() }).toEqual({ misses: [], unused: [] });
  });
});
