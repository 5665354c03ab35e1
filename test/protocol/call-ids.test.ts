import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeResults, parseRequest, wireId } from "../../src/protocol/index.js";
import { readId, uniqueIds } from "../../src/protocol/parse-request.js";
import { parsed, resultOf } from "./fake-results.js";

function idsOf(...ids: unknown[]) {
  return parsed(parseRequest({ tool_calls: ids.map((id) => ({ id, name: "now", arguments: {} })) }));
}

describe("ids", () => {
  it("numbers are kept by their text; what cannot be an id is replaced", () => {
    const request = idsOf(7, 1.5, "", null, true, { a: 1 }, ["x"], undefined, "plain");
    expect(request.givenIds.filter((id) => id !== undefined)).toEqual(["7", "1.5", "plain"]);
    expect(new Set(request.calls.map((call) => call.id)).size).toBe(9);
    expect(request.calls.slice(2, 8).every((call) => /^call_\d+$/.test(call.id))).toBe(true);
    expect(readId(Number.NaN)).toBeUndefined();
    expect(readId(10n)).toBe("10");
  });

  it("one made up never meets one that was given", () => {
    expect(uniqueIds([undefined, "call_1", undefined, "call_3", undefined])).toEqual([
      "call_2",
      "call_1",
      "call_4",
      "call_3",
      "call_5",
    ]);
  });

  it("repeated ones are told apart inside and unchanged outside", () => {
    const request = idsOf("same", "same", "same#2", "same");
    expect(request.calls.map((call) => call.id)).toEqual(["same", "same#3", "same#2", "same#4"]);
    const results = request.calls.map((call, index) =>
      resultOf(call, { content: [{ type: "text", text: `${index}` }] }),
    );
    expect(encodeResults(request, results.toReversed())).toMatchObject({
      tool_results: [
        { tool_call_id: "same", content: { status: "success", output: "0" } },
        { tool_call_id: "same", content: { status: "success", output: "1" } },
        { tool_call_id: "same#2", content: { status: "success", output: "2" } },
        { tool_call_id: "same", content: { status: "success", output: "3" } },
      ],
    });
  });

  it("of a call that got no result, or two, is answered once", () => {
    const request = idsOf("a", "b");
    const [first] = request.calls;
    const twice = first === undefined ? [] : [resultOf(first), resultOf(first, { content: [] })];
    expect(
      encodeResults(request, [...twice, resultOf({ id: "stranger", name: "x", arguments: {} })]),
    ).toMatchObject({
      tool_results: [
        { tool_call_id: "a", content: { status: "success", output: "result of a" } },
        {
          tool_call_id: "b",
          content: { status: "error", error: expect.stringContaining("without a result") },
        },
      ],
    });
  });

  it("are unique by position for any mixture of given, repeated and missing ones", () => {
    const someId = fc.option(
      fc.oneof(
        fc.constantFrom(
          "a",
          "b",
          "a#2",
          "a#3",
          "call_1",
          "call_2",
          "call_3",
          "__proto__",
          "constructor",
          "a#2#2",
        ),
        fc.string({ minLength: 1 }),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(fc.array(someId, { maxLength: 40 }), (given) => {
        const ids = uniqueIds(given);
        expect(ids).toHaveLength(given.length);
        expect(new Set(ids).size).toBe(given.length);
        given.forEach((id, index) => {
          if (id !== undefined && given.indexOf(id) === index) expect(ids[index]).toBe(id);
          else expect(given).not.toContain(ids[index]);
        });
        const request = idsOf(...given);
        expect(request.calls.map((_, index) => wireId(request, index))).toEqual(
          given.map((id, index) => id ?? ids[index]),
        );
      }),
    );
  });

  it("ten thousand equal ones take no noticeable time", () => {
    const started = performance.now();
    expect(new Set(uniqueIds(new Array<string>(10_000).fill("a"))).size).toBe(10_000);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
