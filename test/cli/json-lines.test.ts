import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hermes, linesOf, root } from "./hermes.js";

const fixtures = join(root, "test", "fixtures");
const toolsFile = join(fixtures, "toolcalls", "toolcalls.tools.json");
const callLines = linesOf(readFileSync(join(fixtures, "toolcalls", "toolcalls.dev.jsonl"), "utf8"));
const errorLines = linesOf(readFileSync(join(fixtures, "errors", "errors.dev.jsonl"), "utf8"));

interface Decoded {
  readonly results: readonly {
    readonly id: string | null;
    readonly outcome: "ok" | "error";
    readonly args?: Record<string, unknown>;
    readonly error?: string;
  }[];
}

interface CallSample {
  readonly id: string;
  readonly request?: { readonly tool_calls?: unknown };
  readonly expect: {
    readonly outcome: "ok" | "error" | "either";
    readonly args?: Record<string, unknown>;
    readonly error_has?: readonly string[];
    readonly results?: number;
  };
}

async function decode(stdin: string): Promise<readonly Decoded[]> {
  const done = await hermes(["tools", "decode", "--tools", toolsFile, "--jsonl"], { stdin });
  expect(done).toMatchObject({ code: 0, stderr: "" });
  return linesOf(done.stdout).map((line) => JSON.parse(line) as Decoded);
}

describe("hermes tools decode", () => {
  it("answers every sample as it expects, one result per call and in order", async () => {
    const answers = await decode(callLines.join("\n"));
    expect(answers).toHaveLength(callLines.length);
    for (const [index, line] of callLines.entries()) {
      const sample = JSON.parse(line) as CallSample;
      const { results } = answers[index] as Decoded;
      const calls = sample.request?.tool_calls;
      if (Array.isArray(calls)) expect(results, sample.id).toHaveLength(calls.length);
      if (Array.isArray(calls) && sample.expect.results !== undefined)
        expect(results, sample.id).toHaveLength(sample.expect.results);
      for (const result of results) {
        if (sample.expect.outcome !== "either") expect(result.outcome, sample.id).toBe(sample.expect.outcome);
        if (result.outcome === "ok") expect(result.args, sample.id).toMatchObject(sample.expect.args ?? {});
        else
          for (const part of sample.expect.error_has ?? [])
            expect(result.error?.toLowerCase(), sample.id).toContain(part.toLowerCase());
      }
    }
  });

  it("answers lines that are no requests, and goes on", async () => {
    const call = {
      id: "z",
      function: { name: "web_search", arguments: { query: "cats\u2028and\u2029dogs" } },
    };
    const lines = [
      "not json",
      "[]",
      "42",
      "null",
      "{}",
      '{"request":null}',
      '{"request_text":{"hex":"zz"}}',
      '{"request_text":{"repeat":[["a",-1]]}}',
      '{"request_text":{"repeat":[["abcdefgh",999999999999]]}}',
      `{"request_text":{"repeat":[["[",${200_000}]]}}`,
      // Line separators that JSON allows inside a text do not end the line.
      JSON.stringify({ request: { tool_calls: [call] } }),
    ];
    const answers = await decode(lines.join("\r\n"));
    expect(answers).toHaveLength(lines.length);
    for (const { results } of answers.slice(0, -1))
      expect(results).toEqual([
        expect.objectContaining({ outcome: "error", error: expect.stringMatching(/./) }),
      ]);
    expect(answers.at(-1)?.results).toMatchObject([
      { id: "z", outcome: "ok", args: { query: "cats\u2028and\u2029dogs" } },
    ]);
  });

  it("survives 2,000 damaged requests in one process, with one well-formed answer each", async () => {
    const random = seeded(20_260_101);
    const lines = Array.from({ length: 2_000 }, () => damaged(callLines, random));
    const answers = await decode(lines.join("\n"));
    expect(answers).toHaveLength(lines.length);
    for (const [index, { results }] of answers.entries()) {
      for (const result of results) {
        const complete = result.outcome === "ok" ? typeof result.args === "object" : result.error !== "";
        expect(complete, lines[index]).toBe(true);
      }
    }
  });

  it("says what is wrong with the tools it was given", async () => {
    const done = await hermes(["tools", "decode", "--tools", join(root, "package.json")]);
    expect(done).toMatchObject({ code: 2, stdout: "" });
    expect(done.stderr).toContain("not an array");
  });
});

describe("hermes tools sanitize", () => {
  it("answers every sample: what must go is gone, what must stay is there", async () => {
    const done = await hermes(["tools", "sanitize", "--jsonl"], { stdin: errorLines.join("\n") });
    const answers = linesOf(done.stdout).map((line) => JSON.parse(line) as { text: string | null });
    expect(answers).toHaveLength(errorLines.length);
    for (const [index, line] of errorLines.entries()) {
      const sample = JSON.parse(line) as {
        id: string;
        js?: string;
        must_remove: string[];
        must_keep: string[];
        max_len?: number;
      };
      const text = answers[index]?.text;
      if (sample.js !== undefined) {
        expect(text, sample.id).toBeNull();
        continue;
      }
      for (const part of sample.must_remove) expect(text, sample.id).not.toContain(part);
      for (const part of sample.must_keep) expect(text, sample.id).toContain(part);
      expect(text?.length, sample.id).toBeLessThanOrEqual(sample.max_len ?? Number.POSITIVE_INFINITY);
    }
  });

  it("answers null for anything else, and goes on", async () => {
    const stdin = ["nonsense", "[]", '{"raw":7}', '{"raw_parts":[["x",1e300]]}', '{"raw":"fine"}'].join("\n");
    const done = await hermes(["tools", "sanitize", "--jsonl"], { stdin });
    expect(linesOf(done.stdout).map((line) => (JSON.parse(line) as { text: unknown }).text)).toEqual([
      null,
      null,
      null,
      null,
      "fine",
    ]);
  });
});

/** A sample with random bytes, pieces or values damaged; sometimes still JSON, sometimes not. */
function damaged(samples: readonly string[], random: () => number): string {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  let line = pick(samples);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times -= 1) {
    const at = Math.floor(random() * line.length);
    const change = pick(["insert", "remove", "cut", "swap", "value"]);
    if (change === "insert") line = line.slice(0, at) + pick(SPLINTERS) + line.slice(at);
    if (change === "remove") line = line.slice(0, at) + line.slice(at + Math.ceil(random() * 20));
    if (change === "cut") line = line.slice(0, at);
    if (change === "swap") line = line.slice(at) + line.slice(0, at);
    if (change === "value") line = line.replace(/"[^"]{1,20}"/, () => pick(VALUES));
  }
  // A blank line is no request.
  return line.replaceAll("\n", " ").trim() === "" ? "{" : line.replaceAll("\n", " ");
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
  "\u0000",
  "\u2028",
  "null",
  "1e999",
  "💥",
  '"__proto__":{},',
];
const VALUES = ['"__proto__"', "null", "[]", "{}", "-0", "1e400", '""', '"\\ud800"', "true", '"constructor"'];

/** A linear congruential generator: the same damage in every run. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
