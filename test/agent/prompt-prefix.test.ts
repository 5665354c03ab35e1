import { expect, test } from "vitest";
import { chatCompletionsClient } from "../../src/model/openai-chat.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { agentWith, said } from "./support.js";

const TURNS = 50;

test("over 50 turns every request begins with all of the one before, and the server's account shows the hits", async () => {
  let asked = 0;
  await using model = await startScriptedModel({
    answer: () => {
      asked += 1;
      return asked % 2 === 1
        ? { calls: [{ name: "sleep", arguments: { seconds: 0 } }] }
        : { text: `That was step ${asked}.` };
    },
  });
  const { agent } = await agentWith(chatCompletionsClient({ url: model.url, model: "scripted" }));
  let cached = 0;
  for (let message = 0; message < TURNS / 2; message += 1) {
    const { result } = await said(agent, `message ${message}`);
    cached += result.usage.cached_tokens;
  }
  expect(model.complaints).toEqual([]);
  expect(model.requests).toHaveLength(TURNS);
  const lengths = model.requests.map(({ promptLength }) => promptLength);
  expect(model.requests.map(({ knownPrefix }) => knownPrefix)).toEqual([0, ...lengths.slice(0, -1)]);
  // Only what is new is read anew: over all requests, the length of the last one.
  const { inputTokens, cachedTokens } = model.account.total;
  expect(inputTokens - cachedTokens).toBeLessThan((lengths.at(-1) ?? 0) / 4 + 2 * TURNS);
  expect(cached).toBe(cachedTokens);
});
