import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const bench = (file: string) => import(new URL(`../../bench/${file}`, import.meta.url).href);
const { median, ratio } = await bench("statistics.mjs");
const { figuresOf } = await bench("figures.mjs");
const { betweenMarkers, markdown, terminalTable } = await bench("report.mjs");
const { chart } = await bench("chart.mjs");

const calls = {
  microseconds: {
    bare: { median: 0.1, min: 0.1, rounds: 3 },
    hermes: { median: 5, min: 4, rounds: 3 },
    langchain: { median: 40, min: 30, rounds: 3 },
  },
  ratios: {
    "hermes / langchain": { paired: 0.125, best: 0.13 },
    "hermes / mcp": { paired: 0.4, best: 0.3 },
  },
  leftOut: { mastra: "it would not start" },
};
const figures = figuresOf({ calls });
const results = { node: "v20.19.0", date: "2026-01-02T03:04:05.000Z", figures, parts: { calls } };

describe("comparing samples", () => {
  it("takes the middle of an odd and of an even number of samples", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });

  it("is not misled by a slow phase of the machine that both sides went through", () => {
    expect(ratio([1, 1, 10, 10], [2, 2, 20, 20])).toEqual({ paired: 0.5, best: 0.5 });
  });

  it("compares only the rounds both sides took part in", () => {
    expect(ratio([1, 2, 3], [2]).paired).toBe(0.5);
    expect(ratio([1], [2, 1, 1]).paired).toBe(0.5);
  });
});

describe("figures", () => {
  it("passes at or below its limit, fails above it, and says nothing without a measurement", () => {
    const verdicts = Object.fromEntries(
      figures.map(({ id, pass }: { id: string; pass: boolean | null }) => [id, pass]),
    );
    expect(verdicts).toMatchObject({ "call-langchain": true, "call-mcp": false, flat: null });
  });

  it("shows each with its verdict in the terminal", () => {
    const lines: string[] = terminalTable(figures).split("\n");
    expect(lines.find((line) => line.includes("against LangChain"))).toMatch(/^✓ .*0\.125 × .*limit 0\.25 ×/);
    expect(lines.find((line) => line.includes("MCP in memory"))).toMatch(/^✗/);
    expect(lines.find((line) => line.includes("10,000 tools registered"))).toMatch(/^· .*not measured/);
  });
});

describe("published results", () => {
  const document = readFileSync(fileURLToPath(new URL("../../docs/performance.md", import.meta.url)), "utf8");

  it("replaces what stands between the markers of docs/performance.md and nothing else", () => {
    const once = betweenMarkers(document, "RESULTS-A");
    const twice = betweenMarkers(once, "RESULTS-B");
    expect(twice).toBe(once.replace("RESULTS-A", "RESULTS-B"));
    expect(twice.startsWith("# Performance\n")).toBe(true);
    expect(() => betweenMarkers("# Performance", "text")).toThrow("no place for the table");
  });

  it("lists times, verdicts and what was left out", () => {
    const text: string = markdown(results);
    expect(text).toContain("| ✗ | one call, journal off, against MCP in memory | 0.4 × | 0.25 × | 0.3 × |");
    expect(text).toContain("| **Hermes Tools, whole path** | 5 | 4 |");
    expect(text).toContain("- mastra: it would not start");
  });

  it("draws one bar for each measured figure and each measured call", () => {
    const picture: string = chart(results);
    expect(picture).toMatch(/^<svg [^>]*>\n/);
    expect(picture.match(/rx="2"/g)).toHaveLength(2 + 3);
    expect(picture.match(/stroke-dasharray/g)).toHaveLength(1);
    expect(picture).not.toContain("NaN");
  });
});
