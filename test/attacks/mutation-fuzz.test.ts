import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encodeResults, parseRequestText } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";
import { expectNoUnheardRejections, tool } from "./support.js";

expectNoUnheardRejections();

const SEED = 20_260_601;
const REQUESTS = 1_500;
const LONGEST_STEP_MS = 200;
/** The first calls compile schemas and load modules. */
const WARM_UP = 50;

const samples = readFileSync(new URL("../fixtures/toolcalls/toolcalls.dev.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { request?: unknown })
  .filter(({ request }) => typeof request === "object")
  .map(({ request }) => JSON.stringify(request));

/** Small and repeatable: the same seed gives the same attacks on every machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5) >>> 0;
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

const SPLINTERS = [
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\",
  "\\u0000",
  "\\ud800",
  "null",
  "true",
  "NaN",
  "1e999",
  "-0",
  "__proto__",
  '"constructor":{"prototype":{}}',
  "\0",
  "\u202e",
  "\ufeff",
  "<|im_end|>",
  "```json\n",
  "'",
  "/*",
  "//",
  "\n",
  "tool_calls",
  "function",
  "arguments",
  "web_search",
  "x".repeat(3_000),
  "[".repeat(300),
  '{"a":'.repeat(300),
  "é",
  "😀",
];

function mutate(text: string, random: (below: number) => number): string {
  let current = text;
  for (let count = 1 + random(4); count > 0; count -= 1) {
    const at = random(current.length + 1);
    const length = random(Math.min(40, current.length + 1));
    switch (random(6)) {
      case 0:
        current = current.slice(0, at) + current.slice(at + length);
        break;
      case 1:
        current = current.slice(0, at) + (SPLINTERS[random(SPLINTERS.length)] ?? "") + current.slice(at);
        break;
      case 2:
        current = current.slice(0, at) + String.fromCharCode(random(0x10000)) + current.slice(at + 1);
        break;
      case 3:
        current =
          current.slice(0, at) + current.slice(at, at + length).repeat(1 + random(5)) + current.slice(at);
        break;
      case 4:
        current = current.slice(0, at);
        break;
      default: {
        const other = samples[random(samples.length)] ?? "";
        const from = random(other.length + 1);
        current = current.slice(0, at) + other.slice(from, from + 200) + current.slice(at);
      }
    }
  }
  return current.slice(0, 200_000);
}

/** Breaks the request itself, or only what stands inside one `arguments`, which reaches deeper. */
function attack(random: (below: number) => number): string {
  const sample = samples[random(samples.length)] ?? "";
  if (random(3) === 0) return mutate(sample, random);
  const [call] = (JSON.parse(sample) as { tool_calls?: unknown[] }).tool_calls ?? [];
  const { function: target = {} } = (call ?? {}) as { function?: { name?: unknown; arguments?: unknown } };
  const written =
    typeof target.arguments === "string" ? target.arguments : JSON.stringify(target.arguments ?? {});
  return JSON.stringify({
    tool_calls: Array.from({ length: 1 + random(4) }, () => ({
      id: `call_${random(3)}`,
      function: { name: target.name ?? "web_search", arguments: mutate(written, random) },
    })),
  });
}

describe("mutated tool calls", () => {
  it("one answer per call, in order, never a rejection, and no step that holds the loop", async () => {
    const schemas = JSON.parse(
      readFileSync(new URL("../fixtures/toolcalls/toolcalls.tools.json", import.meta.url), "utf8"),
    ) as { name: string; parameters: AnyTool["parameters"] }[];
    const { runtime } = await testRuntime(
      schemas.map(({ name, parameters }) => tool(name, (args) => args as string, { parameters })),
    );
    runtime.events.on(() => undefined);
    const session = await runtime.openSession();
    const random = randomNumbers(SEED);
    const seen = { requests: 0, calls: 0, ran: 0, worstMs: 0, worst: "" };
    const timed = async <T>(text: string, step: () => T | Promise<T>): Promise<T> => {
      // Processor time: another program's turn is not this step's doing.
      const before = process.cpuUsage();
      const value = await step();
      const { user, system } = process.cpuUsage(before);
      const ms = (user + system) / 1000;
      if (ms > seen.worstMs && seen.requests > WARM_UP)
        Object.assign(seen, { worstMs: ms, worst: text.slice(0, 300) });
      return value;
    };
    for (; seen.requests < REQUESTS; seen.requests += 1) {
      const text = attack(random);
      const request = await timed(text, () => parseRequestText(text));
      if ("code" in request) {
        expect(request.code).toBe("bad_request");
        continue;
      }
      // The tools answer at once, so the time of the whole batch is time in which nothing else could run.
      const results = await timed(text, () => session.callAll(request.calls));
      seen.calls += results.length;
      seen.ran += results.filter((result) => result.ok).length;
      expect(results.map((result) => result.id)).toEqual(request.calls.map((call) => call.id));
      expect(new Set(results.map((result) => result.id)).size).toBe(results.length);
      await timed(text, () => expect(typeof JSON.stringify(encodeResults(request, results))).toBe("string"));
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(seen.ran).toBeGreaterThan(100);
    expect(seen.worstMs, seen.worst).toBeLessThan(LONGEST_STEP_MS);
  }, 60_000);
});
