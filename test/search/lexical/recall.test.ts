import { expect, it } from "vitest";
import { createLexicalIndex } from "../../../src/search/lexical/index.js";
import { CATALOGUE, REQUESTS } from "../fixtures/small-catalogue.js";

const index = createLexicalIndex(CATALOGUE);

function recallAt(limit: number): { recall: number; missed: readonly string[] } {
  let sum = 0;
  const missed: string[] = [];
  for (const [request, wanted] of REQUESTS) {
    const found = new Set(index.search(request, { limit }).map((hit) => CATALOGUE[hit.index]?.name));
    const share = wanted.filter((name) => found.has(name)).length / wanted.length;
    if (share < 1) missed.push(request);
    sum += share;
  }
  return { recall: sum / REQUESTS.length, missed };
}

it("finds the wanted tool among the first five for at least nine of ten plain requests", () => {
  const { recall, missed } = recallAt(5);
  expect(recall, `missed: ${missed.join(" / ")}`).toBeGreaterThanOrEqual(0.9);
});

it("has the wanted tool in the first place for most of them", () => {
  expect(recallAt(1).recall).toBeGreaterThanOrEqual(0.7);
});
