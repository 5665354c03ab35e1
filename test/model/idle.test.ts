import { afterEach, describe, expect, it } from "vitest";
import { complete, ModelError, type ModelPart } from "../../src/model/model-client.js";
import { openModel, openRoute } from "../../src/model/open-route.js";
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

describe("lesson 59: a stream that dies with its socket open", () => {
  it("is broken off when no byte comes, and what came before is told", async () => {
    const server = await scripted({ text: "First" }, { text: "Half of it", afterwards: "fall_silent" });
    // What is loaded and connected with the first question is no silence of the second.
    await complete(openRoute(routeTo(server.url)), QUESTION);
    const parts: ModelPart[] = [];
    const reading = (async () => {
      for await (const part of openRoute(routeTo(server.url, { idleMs: 1_000 })).stream(QUESTION))
        parts.push(part);
    })();
    expect(await told(reading)).toBe("broken_off");
    expect(parts.map((part) => (part.type === "text" ? part.text : part.type)).join("")).toBe("Half of it");
  });

  it("before its first byte, it is asked again", async () => {
    const server = await scripted({ text: "", afterwards: "fall_silent", waitMs: 60_000 }, { text: "Here." });
    const retries: Retry[] = [];
    const model = openModel([routeTo(server.url, { idleMs: 1_000 })], {
      onRetry: (retry) => retries.push(retry),
      retryBaseMs: 1,
    });
    expect((await complete(model, QUESTION)).text).toBe("Here.");
    expect(retries.map(({ attempt, error }) => [attempt, error.code])).toEqual([[1, "broken_off"]]);
  });

  it("that has given text is not begun anew behind the back of whoever showed it", async () => {
    const server = await scripted({ text: "Half", afterwards: "break_off" }, { text: "Other" });
    expect(await told(complete(openModel([routeTo(server.url)], { retryBaseMs: 1 }), QUESTION))).toBe(
      "broken_off",
    );
    expect(server.requests).toHaveLength(1);
  });
});
