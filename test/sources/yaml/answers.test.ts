import { describe, expect, test } from "vitest";
import { resultOf } from "../../../src/sources/yaml/http-answer.js";
import { readToolFile } from "../../../src/toolfile/read-file.js";

/** What a tool with this `response` makes of an answer. */
async function result(
  response: string,
  answer: { readonly body: string; readonly status?: number; readonly type?: string },
): Promise<unknown> {
  const reading = await readToolFile(
    `tools: [{ name: t, description: d, type: http_wrapper, endpoint: "https://a.example/", response: ${response} }]`,
  );
  const spec = reading.ok ? reading.tools[0] : undefined;
  if (spec?.type !== "http_wrapper") throw new Error(JSON.stringify(reading));
  const { body, status = 200, type = "application/json" } = answer;
  return resultOf(
    { status, statusText: "", contentType: type, bytes: Buffer.from(body) },
    { response: spec.response, cacheDir: "/nowhere" },
  );
}

describe("numbers", () => {
  test("with many digits behind the point or an exponent stay numbers, whole ones become texts", async () => {
    const body =
      '{"a":0.30000000000000004,"b":[-1.12345678901234567890e-7,12345678901234567890],"c":"12345678901234567890 \\\\","d":1}';
    expect(await result("{ format: json }", { body })).toEqual({
      a: 0.30000000000000004,
      b: [Number("-1.12345678901234567890e-7"), "12345678901234567890"],
      c: "12345678901234567890 \\",
      d: 1,
    });
  });

  test.each([
    ["digits without end", `${"1".repeat(200_000)}.`],
    ["a text that never ends", `{"n":12345678901234567890,"t":"${'\\"'.repeat(200_000)}`],
  ])("%s are read in no time", async (_, body) => {
    expect(await result("{ format: auto }", { body })).toBe(body);
  });
});

describe("an answer that is not what the file expects", () => {
  test("is told with its status first, whatever form it has", async () => {
    const html = { body: "<h1>Bad gateway</h1>", status: 502, type: "text/html" };
    await expect(result("{ format: json }", html)).rejects.toThrow("HTTP 502: <h1>Bad gateway</h1>");
    await expect(result("{ fields: { a: $.a } }", html)).rejects.toThrow("HTTP 502");
  });

  test.each(["{ format: json }", "$.a", "{ fields: { a: $.a } }"])(
    "and is no JSON is an error with %s, not an empty result",
    async (response) => {
      const login = { body: "<p>Please log in</p>", type: "text/html" };
      await expect(result(response, login)).rejects.toMatchObject({
        message: "The answer was to be JSON, but it is not.",
        details: { content_type: "text/html", begins: "<p>Please log in</p>" },
      });
    },
  );

  test("may be JSON under another name", async () => {
    const body = '{"a":{"b":1}}';
    expect(await result("$.a", { body, type: "text/plain; charset=utf-8" })).toEqual({ b: 1 });
    expect(await result("{ format: auto }", { body, type: "text/plain" })).toBe(body);
    await expect(
      result("{ error_path: $.error }", { body: '{"error":"no"}', type: "text/javascript" }),
    ).rejects.toThrow("reported an error: no");
  });

  test("may be empty where nothing is to be told", async () => {
    for (const response of ["{ format: json }", "$.a"])
      expect(await result(response, { body: "", status: 204, type: "" })).toEqual({ status: 204 });
  });

  test("may be nested deeper than the stack", async () => {
    const body = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(await result("$..a", { body })).toEqual([]);
    await expect(result("{ format: json }", { body, status: 500 })).rejects.toThrow("HTTP 500: [[[[");
  });
});

test.each(["[]", "{}", "0", "false", "null", '""'])(
  "an error path that finds %s finds no error",
  async (empty) => {
    const body = `{"errors":${empty},"result":1}`;
    expect(await result("{ select: $.result, error_path: $.errors }", { body })).toBe(1);
  },
);
