import { describe, expect, it } from "vitest";
import type { JournalRow } from "../../src/call/journal.js";
import { scorecards } from "../../src/observe/scorecard.js";
import { defineTool } from "../../src/tool/define.js";
import { testRuntime } from "../support/runtime.js";

const lookUp = defineTool({
  name: "look_up",
  description: "Look a word up",
  parameters: {
    type: "object",
    properties: {
      word: { type: "string" },
      max_results: { type: "integer" },
      order: { enum: ["up", "down"] },
    },
    required: ["word"],
    additionalProperties: false,
  },
  handler: ({ word }) => `about ${word}`,
});

/** Cards of calls that a real session made, journalled and read back. */
async function cardsOf(requests: readonly unknown[], model = "openai:gpt-x") {
  const { runtime } = await testRuntime([lookUp], { journal: true });
  const session = await runtime.openSession({ model });
  for (const given of requests) await session.call({ name: "look_up", arguments: given });
  return scorecards(await (await runtime.journal()).recent({ limit: 100 }));
}

describe("a scorecard", () => {
  it("counts what a model did with a tool, and says what would help, with the evidence", async () => {
    const secret = "hunter2";
    const [card, ...others] = await cardsOf([
      { word: "a", max_results: "3" },
      { word: "a", max_results: "4" },
      { word: "a", maxResults: 5 },
      { word: secret, maxResults: 5 },
      { max_results: 1 },
      {},
      { word: "a", colour: secret },
      { word: "a", colour: secret },
      { word: "a", order: secret },
      { word: "a", order: "sideways" },
    ]);
    expect(others).toEqual([]);
    expect(card).toMatchObject({
      tool: "look_up",
      model: "openai:gpt-x",
      calls: 10,
      ok: 4,
      errors_by_code: { invalid_arguments: 6 },
      repaired: 4,
      repairs: { max_results: 4 },
      retries: 0,
      p50_ms: expect.any(Number),
    });
    expect(card?.result_tokens).toBeGreaterThan(0);
    const hints = (card?.hints ?? []).join("\n");
    expect(hints).toContain(
      "2 of 10 calls by openai:gpt-x gave `max_results` in another type, which was mended",
    );
    expect(hints).toContain("2 of 10 calls by openai:gpt-x wrote `maxResults` for `max_results`");
    expect(hints).toContain("2 of 10 calls by openai:gpt-x left `word` out");
    expect(hints).toContain("2 of 10 calls by openai:gpt-x gave `colour`, which does not exist");
    expect(hints).toContain(
      'gave `order` a value it does not take: say in its description that it must be one of "up"',
    );
    expect(hints).not.toContain(secret);
  });

  it("says nothing of what happened once, and nothing where all went well", async () => {
    const [card] = await cardsOf([{ word: "a" }, { word: "b" }, { wrd: 1 }, { word: "c" }]);
    expect(card).toMatchObject({ calls: 4, hints: [] });
  });

  it("keeps models apart, and puts the most trouble first", () => {
    const row = (over: Partial<JournalRow>): JournalRow => ({
      seq: 1,
      call_id: "c",
      session_id: "s",
      tool: "t",
      called_as: "t",
      door: "cli",
      args: "{}",
      effects: "[]",
      decision: "allow",
      rule: "",
      environment: "local",
      started_at: 0,
      status: "ok",
      duration_ms: 1,
      owner: "",
      ...over,
    });
    const cards = scorecards([
      ...[1, 2, 3, 4].map((ms) => row({ model: "a", duration_ms: ms, result_tokens: 5_000, retries: 1 })),
      row({ model: "b", status: "timeout", error_code: "timeout", truncated: true }),
      row({ model: "b", status: "timeout", error_code: "timeout", truncated: true }),
      row({}),
      row({ status: "running" }),
      row({ damaged: true }),
    ]);
    expect(cards.map(({ model, calls, p50_ms, retries }) => ({ model, calls, p50_ms, retries }))).toEqual([
      { model: "b", calls: 2, p50_ms: 1, retries: 0 },
      { model: "a", calls: 4, p50_ms: 2, retries: 4 },
      { model: null, calls: 1, p50_ms: 1, retries: 0 },
    ]);
    expect(cards[0]?.hints).toEqual([
      "2 of 2 calls by b ran out of time: say in the description how long it may take, and how to ask for less",
      "2 of 2 calls by b got a result that had to be cut: say how to ask for less of it",
    ]);
    expect(cards[1]?.hints).toEqual([
      "results take 5000 tokens on average: offer a limit or a filter, and name it in the description",
    ]);
  });
});
