import { expect, it } from "vitest";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import type { Dimension } from "../../src/call/stats/stats.js";
import { defineTool } from "../../src/index.js";
import type { ModelClient, ModelPart } from "../../src/model/model-client.js";
import { readStats, type StatsDocument } from "../../src/server/read-stats.js";
import { openDatabase } from "../../src/store/sqlite-driver.js";
import { agentWith, call, calls, said, says } from "../agent/support.js";
import { startServer } from "./support.js";
import { echo } from "./tools.js";

const asks = defineTool({
  name: "asks",
  toolset: "test",
  description: "Asks a model.",
  parameters: { type: "object", properties: { secret: { type: "string" } } },
  permissions: [],
  handler(_args, ctx) {
    ctx.reportUsage({ inputTokens: 100, cachedTokens: 60, outputTokens: 10, costUsd: 0.5 }, "tiny", "vision");
    return "seen";
  },
});

it("statistics say what was called since when, by what, over time and for how much", async () => {
  const { ask, calls: post } = await startServer([echo, asks], { runtime: { journal: true } });
  await post({ tool_calls: [{ id: "1", function: { name: "echo", arguments: { text: "hi" } } }] });
  await post({ tool_calls: [{ id: "2", function: { name: "asks", arguments: { secret: "hush-hush" } } }] });
  await post({ tool_calls: [{ id: "3", function: { name: "nobody", arguments: {} } }] });
  const answer = await ask("/v1/stats?since=1h&by=door");
  const text = await answer.text();
  expect(text).not.toContain("hush-hush");
  const stats = JSON.parse(text) as StatsDocument;
  expect(stats).toMatchObject({
    journal: true,
    by: "door",
    groups: [{ key: "http", calls: 3, errors: 1 }],
    total: {
      calls: 3,
      by_status: { ok: 2, error: 1 },
      errors_by_code: { not_found: 1 },
      tokens: { input: 40, cached: 60, cache_write: 0, output: 10 },
      cost_usd: 0.5,
    },
  });
  expect(stats.tools.map(({ tool }) => tool).sort()).toEqual(["asks", "echo", "nobody"]);
  expect(stats.series?.length).toBeGreaterThanOrEqual(60);
  expect(stats.series?.length).toBeLessThanOrEqual(121);
  expect(stats.series?.reduce((sum, { by_status }) => sum + by_status.ok, 0)).toBe(2);
  const asked = (await (await ask("/v1/stats?since=1h&model=tiny&by=tool")).json()) as StatsDocument;
  expect(asked).toMatchObject({
    only: { model: "tiny" },
    total: { calls: 1, cost_usd: 0.5 },
    groups: [{ key: "asks", calls: 1 }],
  });
  const without = (await (await ask("/v1/stats?since=1h&model=&toolset=echoing")).json()) as StatsDocument;
  expect(without.tools.map(({ tool }) => tool)).toEqual(["echo"]);
  expect(without.total.cost_usd).toBe(0);
  const long = (await (await ask("/v1/stats?since=2020-01-01")).json()) as StatsDocument;
  expect(long.days).toBeGreaterThan(2000);
  for (const wrong of ["since=yesterday", "since=", "by=color"])
    expect((await ask(`/v1/stats?${wrong}`)).status).toBe(400);
});

it("lesson 103: tokens from the cache count once, and the sum over models is the bill", async () => {
  const { ask, runtime } = await startServer([], { runtime: { journal: true } });
  const store = await openConversations(runtime.config.paths);
  const { id } = await store.create({ source: "cli", model: "big", cwd: "/", owner: "" });
  for (const [model, usage, costUsd] of [
    ["big", { inputTokens: 1_000, cachedTokens: 700, cacheWriteTokens: 100, outputTokens: 50 }, 0.02],
    ["big", { inputTokens: 500, cachedTokens: 500, outputTokens: 5 }, 0.001],
    ["small", { inputTokens: 10, outputTokens: 1 }, undefined],
  ] as const)
    await store.addBill({ session: id, model, purpose: "turn", usage, costUsd });
  await store.close();
  const stats = (await (await ask("/v1/stats?since=1h&by=model")).json()) as StatsDocument;
  expect(stats.models).toEqual([
    {
      model: "big",
      requests: 2,
      tokens: { input: 200, cached: 1_200, cache_write: 100, output: 55 },
      cost_usd: 0.021,
      definition_tokens: 0,
    },
    {
      model: "small",
      requests: 1,
      tokens: { input: 10, cached: 0, cache_write: 0, output: 1 },
      cost_usd: 0,
      definition_tokens: 0,
    },
  ]);
  expect(stats.total.tokens).toMatchObject({ input: 210, cached: 1_200, cache_write: 100, output: 56 });
  expect(stats.total.cost_usd).toBeCloseTo(await sumOfBills(runtime.config.paths), 10);
  expect(stats.groups?.map(({ key, cost_usd }) => [key, cost_usd])).toEqual([
    ["big", 0.021],
    ["small", 0],
  ]);
  const only = async (filter: string) =>
    ((await (await ask(`/v1/stats?since=1h&${filter}`)).json()) as StatsDocument).total.cost_usd;
  expect(await only("model=big")).toBeCloseTo(0.021, 10);
  expect(await only(`session=${id}`)).toBeCloseTo(0.021, 10);
  expect(await only("session=another")).toBe(0);
  // No bill says what a tool was part of.
  expect(await only("model=big&tool=echo")).toBe(0);
});

it("says what definitions of tools took, each time they were sent", async () => {
  const sent: number[] = [];
  const steps = [calls(call("e1", "echo", { text: "hi" })), says("It said hi.")];
  const model: ModelClient = {
    async *stream(request) {
      sent.push(JSON.stringify(request.tools).length);
      yield* steps[sent.length - 1] as readonly ModelPart[];
    },
  };
  const { agent, runtime } = await agentWith(model, { tools: [echo] });
  await said(agent, "go");
  const about = (sent[0] ?? Number.NaN) / 4;
  expect(sent).toHaveLength(2);
  const definitionTokens = async (by: Dimension) => {
    const { total, groups = [] } = await readStats(runtime, { since: 0, by });
    return [total, ...groups].map(({ definition_tokens }) => definition_tokens);
  };
  const [total = 0, ...sessions] = await definitionTokens("session");
  expect(total).toBeGreaterThan(1.5 * about);
  expect(total).toBeLessThan(3 * about);
  expect(sessions.filter((tokens) => tokens !== undefined)).toEqual([total]);
  expect(await definitionTokens("model")).toEqual([total, total]);
  const db = openDatabase(runtime.config.paths.sessionsDb);
  db.exec("ALTER TABLE bills DROP COLUMN definition_tokens");
  db.close();
  expect(await definitionTokens("model")).toEqual([0, 0]);
});

async function sumOfBills(paths: Parameters<typeof openConversations>[0]): Promise<number> {
  const store = await openConversations(paths);
  const spent = await store.spent({});
  await store.close();
  return spent;
}
