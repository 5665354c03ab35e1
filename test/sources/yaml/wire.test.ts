import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { credentialsOf } from "../../../src/toolfile/credentials.js";
import { addressOf, messageOf, multipartForm, refineFor } from "../../../src/toolfile/http-message.js";
import { readToolFile } from "../../../src/toolfile/read-file.js";
import { createToolHost } from "../../../src/toolfile/tool-host.js";
import type { HttpSpec } from "../../../src/toolfile/tool-spec.js";

async function spec(fields: string): Promise<HttpSpec> {
  const reading = await readToolFile(
    `tools: [{ name: t, description: d, type: http_wrapper, endpoint: "https://a.example/", ${fields} }]`,
  );
  const found = reading.ok ? reading.tools[0] : undefined;
  if (found?.type !== "http_wrapper") throw new Error(JSON.stringify(reading));
  return found;
}

describe("lists and objects in a query", () => {
  test.each<[string, unknown, string]>([
    ["style: pipeDelimited", ["a", "b c"], "q=a|b c"],
    ["style: spaceDelimited", ["a", "b"], "q=a b"],
    ["style: pipeDelimited, explode: true", ["a", "b"], "q=a&q=b"],
    ["style: deepObject", { a: { b: 1, c: null }, d: ["x", "y"] }, "q[a][b]=1&q[d][]=x&q[d][]=y"],
    ["style: deepObject", [{ a: 1 }, { a: 2 }], "q[0][a]=1&q[1][a]=2"],
    ["explode: false", { a: 1, b: "x" }, "q=a,1,b,x"],
    ["explode: true", { a: 1, b: null }, "a=1"],
  ])("%s", async (style, value, query) => {
    const tool = await spec(`parameters: [{ name: q, ${style} }]`);
    expect(decodeURIComponent(new URL(addressOf(tool, { q: value })).search)).toBe(`?${query}`);
  });
});

describe("a form", () => {
  const FORM = "method: POST, content_type: application/x-www-form-urlencoded";

  test("keeps the names of nested objects, and writes fields as their parameters say", async () => {
    const tool = await spec(
      `${FORM}, parameters: [{ name: to }, { name: ids }, { name: csv, explode: false }]`,
    );
    const { body } = messageOf(tool, { to: { city: "Ulm", at: { no: 1 } }, ids: [1, 2], csv: ["a", "b"] });
    expect(decodeURIComponent(body ?? "")).toBe("to[city]=Ulm&to[at][no]=1&ids=1&ids=2&csv=a,b");
  });

  test("in parts is read by others as it was meant, whatever is in it", async () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom('a"; filename="x', "a\r\n\r\nb", "--x", "\r\n--", "ä\u2028"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }), async (fields) => {
        const { contentType, body } = multipartForm(fields);
        const read = await new Response(body, { headers: { "content-type": contentType } }).formData();
        const plain = fields.map(([name, value]) => [decoded(name), value]);
        expect([...read].map(([name, value]) => [decoded(name), value])).toEqual(plain);
      }),
      { numRuns: 100 },
    );
  });

  test("in parts has the type that names its boundary", async () => {
    const tool = await spec(
      "method: POST, content_type: multipart/form-data, parameters: [{ name: a }, { name: o }]",
    );
    const { headers, body } = messageOf(tool, { a: [1, 2], o: { x: "y" } });
    const read = await new Response(body, { headers }).formData();
    expect([...read]).toEqual([
      ["a", "1"],
      ["a", "2"],
      ["o", '{"x":"y"}'],
    ]);
  });
});

/** Names are compared as the form spells them: quotes and line ends cannot stand there as they are. */
function decoded(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

describe("a header", () => {
  test("that is one value which was not given is left out", async () => {
    const tool = await spec("headers: { X-A: '{{a}}', X-B: 'b {{a}}' }, parameters: [{ name: a }]");
    expect(messageOf(tool, {}).headers).toEqual({ "X-B": "b " });
    expect(messageOf(tool, { a: 0 }).headers).toEqual({ "X-A": "0", "X-B": "b 0" });
  });

  test("that cannot be sent is refused before anybody is asked", async () => {
    const tool = await spec("headers: { X-A: 'a {{a}}' }, parameters: [{ name: a }]");
    expect(refineFor(tool)({ a: "x\r\nHost: evil" })).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining("line break") }],
    });
    expect(refineFor(tool)({ a: "x" })).toMatchObject({ ok: true });
  });
});

describe("a credential that cannot be used", () => {
  test.each([
    ["bearer", "type: bearer, token_env: KEY"],
    ["header", "type: header, name: X-Key, value_env: KEY"],
  ])("in %s is told by the name of its variable", async (_, auth) => {
    const tool = await spec(`auth: { ${auth} }`);
    const credentials = (value: string) => () =>
      credentialsOf(
        tool.auth,
        createToolHost(() => value),
      );
    expect(credentials("tok-1234\n")).toThrow(/^KEY holds a line break/);
    expect(credentials("")).toThrow(/^KEY is not set/);
    expect(Object.values(credentials("tok-1234")().headers).join()).toContain("tok-1234");
  });

  test("in an address is spelled as errors would repeat it", async () => {
    const tool = await spec("auth: { type: query, name: k, value_env: KEY }");
    const { query, secrets } = credentialsOf(
      tool.auth,
      createToolHost(() => "it's"),
    );
    expect(new URL(`https://a.example/?${query}`).search).toBe(`?${query}`);
    expect(secrets).toContain(query.slice("k=".length));
  });
});
