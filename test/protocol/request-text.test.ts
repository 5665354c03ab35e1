import { describe, expect, it } from "vitest";
import {
  exceedsDepth,
  MAX_REQUEST_BYTES,
  parseRequestText,
  valueExceedsDepth,
} from "../../src/protocol/index.js";
import { parsed, refused } from "./fake-results.js";

const CALL = '{"id":"a","type":"function","function":{"name":"now","arguments":{"zone":"UTC"}}}';

function nested(levels: number): string {
  return `{"tool_calls":[${CALL},{"id":"d","name":"set","arguments":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}]}`;
}

describe("request text", () => {
  it.each([
    ["empty", ""],
    ["blank", " \n\t "],
    ["a byte order mark", "\uFEFF"],
    ["no bytes", new Uint8Array()],
  ])("%s is refused and JSON is asked for", (_title, text) => {
    expect(refused(parseRequestText(text)).message).toContain("JSON");
  });

  it("a byte order mark before JSON is skipped", () => {
    const text = `\uFEFF{"tool_calls":[${CALL}]}`;
    expect(parsed(parseRequestText(text)).calls).toHaveLength(1);
    expect(parsed(parseRequestText(new TextEncoder().encode(text))).calls).toHaveLength(1);
  });

  it("bytes that are not UTF-8 are refused rather than replaced", () => {
    const bytes = new TextEncoder().encode(`{"tool_calls":[${CALL}]}`);
    bytes[bytes.length - 10] = 0xff;
    expect(refused(parseRequestText(bytes)).message).toMatch(/JSON.*UTF-8/);
  });

  it("more than the limit is refused before it is read", () => {
    expect(refused(parseRequestText(" ".repeat(MAX_REQUEST_BYTES + 1))).message).toContain("too large");
    expect(refused(parseRequestText("é".repeat(MAX_REQUEST_BYTES / 2 + 1))).message).toContain("too large");
    expect(refused(parseRequestText(new Uint8Array(MAX_REQUEST_BYTES + 1))).message).toContain("too large");
  });

  it("a flood of tiny values is refused before it takes the memory", () => {
    expect(refused(parseRequestText(`[${"[],".repeat(1_000_000)}0]`)).message).toContain("too large");
    expect(refused(parseRequestText("[".repeat(5_000_000))).message).toContain("deep");
  });

  it("a call nested too deep fails alone, under its own id", () => {
    const request = parsed(parseRequestText(nested(10_000)));
    expect(request.givenIds).toEqual(["a", "d"]);
    expect(request.calls[0]?.malformed).toBeUndefined();
    expect(request.calls[1]?.malformed?.message).toContain("deep");
    expect(parsed(parseRequestText(nested(200))).calls[1]?.malformed).toBeUndefined();
  });

  it.each([
    ["valid lists", "[".repeat(20_000) + "]".repeat(20_000)],
    ["open lists", "[".repeat(20_000)],
    ["an object without a call", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`],
  ])("%s nested without end are called deep", (_title, text) => {
    const result = parseRequestText(text);
    const message = "calls" in result ? result.calls[0]?.malformed?.message : result.message;
    expect(message).toContain("deep");
  });
});

describe("text that is almost JSON", () => {
  it.each([
    ["a trailing comma", `{"tool_calls":[${CALL},],}`],
    [
      "Python spelling",
      "{'tool_calls': [{'id': 'a', 'function': {'name': 'now', 'arguments': {'zone': 'UTC'}}}]}",
    ],
    ["a fenced block", `\`\`\`json\n{"tool_calls":[${CALL}]}\n\`\`\``],
    ["keys without quotes", `{tool_calls:[${CALL}]}`],
    ["comments", `{"tool_calls":[ // one\n${CALL}]}`],
  ])("%s is read and marked as repaired", (_title, text) => {
    const request = parsed(parseRequestText(text));
    expect(request.repaired).toBe(true);
    expect(request.calls).toEqual([{ id: "a", name: "now", arguments: { zone: "UTC" } }]);
  });

  it("valid JSON is never marked", () => {
    expect(parsed(parseRequestText(`{"tool_calls":[${CALL}]}`))).not.toHaveProperty("repaired");
  });

  it("cut off anywhere, it is refused: half a command is another command", () => {
    const whole =
      '{"tool_calls":[{"id":"a","name":"terminal","arguments":{"command":"rm -rf ./build","n":12}}]}';
    for (let length = 1; length < whole.length; length++) {
      expect(refused(parseRequestText(whole.slice(0, length))).message).toContain("JSON");
    }
  });

  it.each([
    ["prose", "please run now"],
    ["two requests", `{"tool_calls":[${CALL}]}\n{"tool_calls":[${CALL}]}`],
    ["two calls in lines", `${CALL}\n${CALL}`],
    ["a stray word", `{"tool_calls":[${CALL} oops]}`],
  ])("%s is refused", (_title, text) => {
    expect(refused(parseRequestText(text)).message).toContain("not valid JSON");
  });

  it("repair does not run away on quotes without partners", () => {
    const started = performance.now();
    refused(parseRequestText(`${'"a\n'.repeat(5_000)}]}`));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("depth", () => {
  it("counts levels, not brackets inside strings", () => {
    expect(exceedsDepth('{"a":[{"b":1}]}', 3)).toBe(false);
    expect(exceedsDepth('{"a":[{"b":1}]}', 2)).toBe(true);
    expect(exceedsDepth('["[[[[", "\\"[[[[", "\\\\", "[["]', 1)).toBe(false);
    expect(exceedsDepth("[],[],[]", 1)).toBe(false);
  });

  it("of values agrees with that of their text", () => {
    const value = { a: [{ b: [] }], c: {} };
    for (const limit of [1, 2, 3, 4, 5]) {
      expect(valueExceedsDepth(value, limit)).toBe(exceedsDepth(JSON.stringify(value), limit));
    }
  });
});
