import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Switch } from "../../src/model/fallback.js";
import { complete, ModelError } from "../../src/model/model-client.js";
import { openModel, openRoute } from "../../src/model/open-route.js";
import { addUsage, costOf, mostItCanCost } from "../../src/model/prices.js";
import type { Retry } from "../../src/model/retry.js";
import type { ModelRoute } from "../../src/model/route.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";

const servers: ScriptedModel[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function scripted(...steps: readonly Step[]): Promise<ScriptedModel> {
  const server = await startScriptedModel({ steps });
  servers.push(server);
  return server;
}

const routeTo = (url: string, more: Partial<ModelRoute> = {}): ModelRoute => ({
  provider: "anthropic",
  model: "m-1",
  url,
  idleMs: 10_000,
  foundBy: "test",
  ...more,
});
const QUESTION = { messages: [{ role: "user", content: "Go" }] } as const;

async function told(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => "answered",
    (error: unknown) => (ModelError.isInstance(error) ? error.code : error),
  );
}

describe("lesson 60: retries end, and each is told", () => {
  it("busy: with the time the server asks for, five times at most", async () => {
    const busy: Step = { status: 529, error: "Overloaded", repeat: 9 };
    const server = await scripted({ status: 429, error: "slow down", retryAfterSeconds: 0.01 }, busy);
    const retries: Retry[] = [];
    const onRetry = (retry: Retry) => retries.push(retry);
    const model = openModel([routeTo(server.url)], { onRetry, retryBaseMs: 1 });
    expect(await told(complete(model, QUESTION))).toBe("busy");
    expect(server.requests).toHaveLength(6);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(retries[0]?.waitMs).toBe(10);
  });

  it.each([
    [429, "You exceeded your current quota, please check your plan and billing details", "quota"],
    [400, "Your credit balance is too low to access the Anthropic API", "quota"],
    [402, "Payment required", "quota"],
    [401, "invalid x-api-key", "refused"],
    [400, "prompt is too long: 210000 tokens > 200000 maximum", "too_long"],
    [404, "model: nosuch", "status"],
    [429, "slow down", "busy"],
  ])("%i %s is %s", async (status, error, code) => {
    const server = await scripted({ status, error, retryAfterSeconds: 9_999 });
    const model = openModel([routeTo(server.url)], { retryBaseMs: 1 });
    expect(await told(complete(model, QUESTION))).toBe(code);
    // A server that wants to be left alone for hours is not waited for either.
    expect(server.requests).toHaveLength(1);
  });

  it("a wait ends with the signal", async () => {
    const server = await scripted({ status: 429, retryAfterSeconds: 60 });
    const stop = new AbortController();
    const model = openModel([routeTo(server.url)], { onRetry: () => stop.abort(new Error("enough")) });
    await expect(complete(model, { ...QUESTION, signal: stop.signal })).rejects.toThrow("enough");
  });
});

describe("lesson 68: a switch to another model", () => {
  it("is told, holds, and takes name, key and prices along", async () => {
    const first = await scripted({ status: 402, error: "no money" });
    const second = await scripted({ text: "I stand in.", repeat: "always" });
    const switches: Switch[] = [];
    const standIn = routeTo(second.url, { provider: "openai", model: "other", apiKey: "its-own" });
    const model = openModel([routeTo(first.url, { apiKey: "first-key" }), standIn], {
      onSwitch: (change) => switches.push(change),
    });
    expect((await complete(model, QUESTION)).text).toBe("I stand in.");
    expect((await complete(model, QUESTION)).text).toBe("I stand in.");
    expect(switches.map(({ from, to, error }) => [from.model, to.model, error.code])).toEqual([
      ["m-1", "other", "quota"],
    ]);
    expect(model.route).toBe(standIn);
    expect(first.requests).toHaveLength(1);
    expect(second.requests.map(({ model: name, headers }) => [name, headers.authorization])).toEqual([
      ["other", "Bearer its-own"],
      ["other", "Bearer its-own"],
    ]);
  });

  it("does not happen for a question that is too long, or in the middle of an answer", async () => {
    const long = await scripted({ status: 400, error: "prompt is too long" });
    const half = await scripted({ text: "Half", afterwards: "error" });
    const other = await scripted({ text: "never", repeat: "always" });
    for (const [server, code] of [
      [long, "too_long"],
      [half, "busy"],
    ] as const)
      expect(await told(complete(openModel([routeTo(server.url), routeTo(other.url)]), QUESTION))).toBe(code);
    expect(other.requests).toEqual([]);
  });
});

describe("lesson 103: every token is in one part of the bill", () => {
  const prices = { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 };

  it("fresh, known and kept input have their own prices; the sum is the bill", () => {
    const usage = { inputTokens: 2_125, outputTokens: 15, cachedTokens: 2_000, cacheWriteTokens: 100 };
    const bill = (25 * 3 + 2_000 * 0.3 + 100 * 3.75 + 15 * 15) / 1e6;
    expect(costOf(usage, prices)).toBeCloseTo(bill, 12);
    const twice = addUsage(addUsage(undefined, usage), usage);
    expect(costOf(twice, prices)).toBeCloseTo(2 * bill, 12);
  });

  it("without prices of its own, known input costs like any other; without any price nobody knows", () => {
    expect(
      costOf({ inputTokens: 2_000, outputTokens: 100, cachedTokens: 500 }, { input: 1, output: 2 }),
    ).toBeCloseTo(0.0022, 12);
    expect(costOf({ inputTokens: 1, outputTokens: 1 }, undefined)).toBeUndefined();
    expect(costOf({ inputTokens: 1, outputTokens: 1, costUsd: 0.5 }, prices)).toBe(0.5);
    expect(mostItCanCost({ inputTokens: 1e6, outputTokens: 1e6 }, prices)).toBeCloseTo(18.75, 12);
  });

  it("is what the server of each format bills", async () => {
    for (const provider of ["openai", "responses", "anthropic", "gemini"] as const) {
      const server = await scripted({
        text: "Hi",
        usage: { input: 1_000, output: 50, cached: 600 },
        repeat: 2,
      });
      const client = openRoute(routeTo(server.url, { provider }));
      let spent = 0;
      for (let turn = 0; turn < 2; turn++) {
        const { usage } = await complete(client, QUESTION);
        spent += usage === undefined ? 0 : (costOf(usage, prices) ?? 0);
      }
      expect(spent).toBeCloseTo(server.account.cost(prices), 12);
    }
  });
});

it("lesson 121: a model is reached through the proxy that was set", async () => {
  const server = await scripted({ text: "Through." });
  const seen: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    const { host, port, pathname } = new URL(incoming.url ?? "");
    seen.push(host);
    const { method, headers } = incoming;
    const onward = request({ port, path: pathname, method, headers }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const elsewhere = server.url.replace("127.0.0.1", "10.255.255.1");
    const answer = await complete(openRoute(routeTo(elsewhere, { proxy: address })), QUESTION);
    expect([answer.text, seen]).toEqual(["Through.", [new URL(elsewhere).host]]);
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
});
