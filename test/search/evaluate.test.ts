import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Evaluation } from "../../src/search/evaluate.js";
import { errorLine, hermes, hermesJson, tempFolder } from "../cli/hermes.js";

const judged = (...relevant: string[]) => ({ query: "", relevant: new Set(relevant) });

describe("the measures", () => {
  it("are those one gets by hand", () => {
    const evaluation = new Evaluation([1, 2, 5]);
    evaluation.add(judged("a"), ["a", "b"]);
    evaluation.add(judged("a", "b"), ["x", "b", "y", "a"]);
    evaluation.add(judged("a"), ["x", "y"]);
    const { recall, mrr, ndcg5 } = evaluation.measures();
    expect(recall.get(1)).toBeCloseTo((1 + 0 + 0) / 3);
    expect(recall.get(2)).toBeCloseTo((1 + 1 / 2 + 0) / 3);
    expect(recall.get(5)).toBeCloseTo((1 + 1 + 0) / 3);
    expect(mrr).toBeCloseTo((1 + 1 / 2 + 0) / 3);
    const second = (1 / Math.log2(3) + 1 / Math.log2(5)) / (1 + 1 / Math.log2(3));
    expect(ndcg5).toBeCloseTo((1 + second + 0) / 3);
  });

  it("leave out queries that no tool serves, and count a name once", () => {
    const evaluation = new Evaluation([2]);
    evaluation.add(judged(), ["a"]);
    evaluation.add(judged("b"), ["a", "a", "b"]);
    expect(evaluation.count).toBe(1);
    expect(evaluation.measures().recall.get(2)).toBe(1);
  });

  it("count a tool that the catalogue does not have as missed", () => {
    const evaluation = new Evaluation([1]);
    evaluation.add(judged("a", "nowhere"), ["a"]);
    expect(evaluation.measures().recall.get(1)).toBe(0.5);
  });
});

describe("hermes tools search-eval", () => {
  const home = tempFolder();
  const tools = join(home, "tools.jsonl");
  const queries = join(home, "queries.jsonl");
  const write = (file: string, rows: readonly unknown[]) =>
    writeFileSync(
      file,
      rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""),
    );

  it("prints the agreed fields and takes odd catalogues as they are", async () => {
    write(tools, [
      { name: "send_mail", description: "Sends an e-mail to somebody", parameters: { type: "object" } },
      { name: "send_mail", description: "The same name once more" },
      { name: "getWeather", description: "Weather forecast for a city" },
      { name: "bare" },
      "",
      { name: "long", description: "word ".repeat(20_000) },
    ]);
    write(queries, [
      { query: "weather forecast", relevant: ["getWeather"] },
      { query: "send an e-mail", relevant: ["send_mail"] },
      { query: "nobody serves this", relevant: [] },
    ]);
    const found = await hermesJson(
      ["tools", "search-eval", "--tools", tools, "--queries", queries, "--lexical", "--k", "1,3"],
      { home },
    );
    expect(found).toMatchObject({
      "recall@1": 1,
      "recall@3": 1,
      mrr: 1,
      "ndcg@5": 1,
      us_per_query: expect.any(Number),
      build_ms: expect.any(Number),
      judges: ["words"],
      tools: 5,
      queries: 2,
    });
  });

  it("names the line that it cannot read", async () => {
    write(tools, [{ name: "fine" }, "{broken"]);
    write(queries, [{ query: "x", relevant: ["fine"] }]);
    const done = await hermes(
      ["tools", "search-eval", "--tools", tools, "--queries", queries, "--lexical", "--json"],
      { home },
    );
    expect(done.code).toBe(2);
    expect(errorLine(done).message).toContain("tools.jsonl line 2");
  });
});
