import { describe, expect, it } from "vitest";
import { testRuntime } from "../../support/runtime.js";
import { KEY, startMemoryServer } from "./memory-server.js";

async function withMemory(options: { readonly key?: string; readonly serverKey?: string } = {}) {
  const server = await startMemoryServer(options.serverKey ?? KEY);
  const { runtime } = await testRuntime([], {
    builtins: true,
    env: {
      PATH: process.env.PATH,
      HONCHO_URL: `${server.url}/`,
      ...(options.key !== "" && { HONCHO_API_KEY: options.key ?? KEY }),
    },
    flags: { "honcho.workspace": "my house", "honcho.peer": "ada" },
  });
  const session = await runtime.openSession();
  const call = (name: string, args: Record<string, unknown> = {}) => session.call({ name, arguments: args });
  return { server, call };
}

it("a fact that was told is in the profile, the context and what is reasoned from it", async () => {
  const { server, call } = await withMemory();
  expect((await call("honcho_profile")).structured).toMatchObject({
    peer: "ada",
    facts: [],
    note: expect.stringContaining("honcho_conclude"),
  });
  expect((await call("honcho_conclude", { conclusion: "Tea is preferred" })).structured).toMatchObject({
    success: true,
    id: "c1",
    peer: "ada",
  });
  await call("honcho_conclude", { conclusion: "Boats make her sick" });
  expect(server.conclusions.map(({ content, observer_id }) => [content, observer_id])).toEqual([
    ["Tea is preferred", "ada"],
    ["Boats make her sick", "ada"],
  ]);
  expect((await call("honcho_profile")).structured).toMatchObject({
    facts: ["Tea is preferred", "Boats make her sick"],
  });
  expect((await call("honcho_context")).structured).toMatchObject({
    representation: "Tea is preferred\nBoats make her sick",
  });
  expect((await call("honcho_context", { query: "Boats" })).structured).toMatchObject({
    representation: "Boats make her sick",
  });
  expect(
    (await call("honcho_reasoning", { query: "Is Tea fine?", reasoning_level: "high" })).structured,
  ).toMatchObject({ answer: "Tea is preferred (high)" });
  expect((await call("honcho_reasoning", { query: "Which shoes?" })).structured).toMatchObject({
    answer: "Honcho knows nothing about that.",
  });
});

it("workspace and person are made when they are not there yet, and once", async () => {
  const { server, call } = await withMemory();
  await call("honcho_profile");
  await call("honcho_profile");
  expect(server.seen).toEqual([
    "GET /v3/workspaces/my%20house/peers/ada/card",
    'POST /v3/workspaces {"id":"my house"}',
    'POST /v3/workspaces/my%20house/peers {"id":"ada"}',
    "GET /v3/workspaces/my%20house/peers/ada/card",
    "GET /v3/workspaces/my%20house/peers/ada/card",
  ]);
});

it("searches what was said, as many as are wanted, and a model reads it as words of others", async () => {
  const { server, call } = await withMemory();
  for (const day of [1, 2, 3]) server.messages.push({ content: `trains on day ${day}`, peer_id: "ada" });
  const result = await call("honcho_search", { query: "trains", limit: 2 });
  expect(result.structured).toMatchObject({
    results: [
      { content: "trains on day 1", session: "s1", at: "2026-05-01T10:00:00Z" },
      { content: "trains on day 2" },
    ],
  });
  expect(result.content[0]).toMatchObject({
    text: expect.stringMatching(/^<untrusted_tool_result source="http:\/\/127/),
  });
});

describe("without", () => {
  it("a key and a server the tools say what is missing", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const tools = (await runtime.listTools()).filter(({ name }) => name.startsWith("honcho_"));
    expect(tools).toHaveLength(5);
    for (const tool of tools)
      expect(tool).toMatchObject({
        toolset: "honcho",
        available: false,
        reason: expect.stringContaining("HONCHO_API_KEY"),
        fix: "HONCHO_API_KEY=...",
      });
  });

  it("a key they work with a server of one's own", async () => {
    const { call } = await withMemory({ key: "", serverKey: "" });
    expect((await call("honcho_profile")).error).toBeUndefined();
  });

  it("the right key the error does not show it", async () => {
    const { call } = await withMemory({ key: "hch-v3-wrong-key-4242" });
    const result = await call("honcho_profile");
    expect(result.error).toMatchObject({ code: "denied", hint: expect.stringContaining("HONCHO_API_KEY") });
    expect(JSON.stringify(result)).not.toContain("4242");
  });
});

it("what goes wrong there is told in its own words", async () => {
  const { server, call } = await withMemory();
  server.failure = { status: 422, body: '{"detail":[{"msg":"String should have at most 100 characters"}]}' };
  expect((await call("honcho_conclude", { conclusion: "x" })).error?.message).toContain(
    "at most 100 characters",
  );
  server.failure = { status: 200, body: "<html>" };
  expect((await call("honcho_profile")).error?.hint).toContain("honcho.url");
  server.failure = { status: 429, body: "{}" };
  expect((await call("honcho_profile")).error?.message).toContain("too often");
});

it("the plugin can be switched off with all it brings", async () => {
  const { runtime } = await testRuntime([], {
    builtins: true,
    env: { PATH: process.env.PATH, HONCHO_API_KEY: KEY },
    flags: { "plugins.disabled": ["honcho"] },
  });
  const tools = (await runtime.listTools()).filter(({ toolset }) => toolset === "honcho");
  expect(tools.map(({ enabled }) => enabled)).toEqual([false, false, false, false, false]);
  const session = await runtime.openSession({ toolsets: ["all"] });
  expect((await session.call({ name: "honcho_profile", arguments: {} })).error?.code).not.toBeUndefined();
  expect((await runtime.listTools()).find(({ name }) => name === "rl_list_runs")).toMatchObject({
    enabled: true,
  });
});
