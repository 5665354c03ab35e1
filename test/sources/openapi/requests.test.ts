import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compileValidator } from "../../../src/tool/validate.js";
import { addressOf, messageOf } from "../../../src/toolfile/http-message.js";
import { type ImportOptions, importOpenApi } from "../../../src/toolfile/openapi/convert.js";
import { openDocument } from "../../../src/toolfile/openapi/document.js";
import { readToolFile } from "../../../src/toolfile/read-file.js";
import type { HttpSpec } from "../../../src/toolfile/tool-spec.js";

type Part = Readonly<Record<string, unknown>>;

/** A document of one operation, `POST /x` unless said otherwise. */
function document(operation: Part, more: Part = {}): Part {
  const { method = "post", path = "/x", ...rest } = operation;
  return {
    openapi: "3.1.0",
    info: { title: "T" },
    servers: [{ url: "https://a.example" }],
    paths: { [String(path)]: { [String(method)]: { operationId: "op", ...rest } } },
    ...more,
  };
}

function body(schema: Part, { type = "application/json", ...more }: Part = {}): Part {
  return { requestBody: { required: true, content: { [String(type)]: { schema, ...more } } } };
}

function imported(from: Part, options: ImportOptions = {}) {
  const done = importOpenApi(from, options);
  if (!done.ok) throw new Error(done.message);
  return done;
}

/** The one tool, as it is read from the file that was made. */
async function tool(from: Part, options: ImportOptions = {}): Promise<HttpSpec> {
  const { file, leftOut } = imported(from, options);
  const reading = await readToolFile(JSON.stringify(file));
  const spec = reading.ok ? reading.tools[0] : undefined;
  if (spec?.type !== "http_wrapper") throw new Error(JSON.stringify([leftOut, reading]));
  return spec;
}

describe("a body", () => {
  test("tells the defaults of the service, but does not send them", async () => {
    const properties = {
      description: { type: "string" },
      private: { type: "boolean", default: false, description: "Who sees it." },
      inner: { type: "object", properties: { on: { type: "boolean", default: true } } },
    };
    const spec = await tool(document({ method: "patch", ...body({ type: "object", properties }) }));
    expect(spec.schema.properties).toEqual({
      description: { type: "string" },
      private: { type: "boolean", description: "Who sees it. (default: false)" },
      inner: {
        type: "object",
        properties: { on: { type: "boolean", description: "(default: true)" } },
      },
    });
  });

  test("does not ask for what only answers hold", async () => {
    const Thing = {
      type: "object",
      required: ["id", "name"],
      properties: { id: { type: "string", readOnly: true }, name: { type: "string" } },
    };
    const components = { schemas: { Thing } };
    const spec = await tool(document(body({ $ref: "#/components/schemas/Thing" }), { components }));
    expect(spec.parameters.map(({ name, required }) => [name, required])).toEqual([["name", true]]);
  });

  test("of a GET is left away unless it is required", async () => {
    const get = { method: "get", ...body({ type: "object" }) };
    expect(imported(document(get)).leftOut).toEqual([
      { operation: "GET /x", reason: "a GET request cannot have a body" },
    ]);
    const requestBody = { ...(get as { requestBody?: object }).requestBody, required: false };
    expect((await tool(document({ ...get, requestBody }))).parameters).toEqual([]);
  });

  test("that is a form writes each field as the document says", async () => {
    const properties = {
      address: { type: "object", properties: { city: { type: "string" } } },
      expand: { type: "array", items: { type: "string" } },
      ids: { type: "array", items: { type: "string" } },
    };
    const encoding = {
      address: { style: "deepObject", explode: true },
      expand: { style: "deepObject", explode: true },
      ids: { style: "form", explode: false },
    };
    const type = "application/x-www-form-urlencoded";
    const spec = await tool(document(body({ type: "object", properties }, { type, encoding })));
    const sent = messageOf(spec, { address: { city: "Ulm" }, expand: ["a", "b"], ids: ["1", "2"] });
    expect(decodeURIComponent(sent.body ?? "")).toBe("address[city]=Ulm&expand[]=a&expand[]=b&ids=1,2");
  });

  test("in parts is a form when it has no files", async () => {
    const components = { schemas: { Deep: { type: "array", items: { $ref: "#/components/schemas/Deep" } } } };
    const deep = { $ref: "#/components/schemas/Deep" };
    const fields = { deep, name: { type: "string" }, tags: { type: "array", items: { type: "string" } } };
    const parts = (properties: Part) =>
      document(body({ type: "object", properties }, { type: "multipart/form-data" }), { components });
    const { headers, body: text } = messageOf(await tool(parts(fields)), { name: "n", tags: ["a", "b"] });
    expect([...(await new Response(text, { headers }).formData())]).toEqual([
      ["name", "n"],
      ["tags", "a"],
      ["tags", "b"],
    ]);
    for (const file of [
      { type: "string", format: "binary" },
      { type: "string", contentMediaType: "image/png" },
      { type: "array", items: { type: "string", format: "binary" } },
      { description: "Any bytes" },
      {},
    ])
      expect(imported(parts({ ...fields, file })).leftOut).toEqual([
        { operation: "POST /x", reason: "its body is multipart/form-data" },
      ]);
  });

  test("of an old document may be in parts, and its lists are joined as it says", async () => {
    const parameters = [
      { name: "ids", in: "formData", type: "array", items: { type: "string" } },
      { name: "n", in: "formData", type: "integer", default: 3 },
    ];
    const old = (consumes: readonly string[]) => ({
      ...document({ parameters, consumes }),
      openapi: undefined,
      swagger: "2.0",
      host: "a.example",
    });
    const form = messageOf(await tool(old(["application/x-www-form-urlencoded"])), { ids: ["a", "b"] });
    expect(form.body).toBe("ids=a%2Cb");
    const { headers, body: text } = messageOf(await tool(old(["multipart/form-data"])), { ids: ["a", "b"] });
    expect([...(await new Response(text, { headers }).formData())]).toEqual([["ids", "a,b"]]);
  });
});

describe("references", () => {
  const SELF = "#/paths/~1x/post/requestBody/content/application~1json/schema";

  test("into the middle of the document may go in circles, and end at once", async () => {
    const properties = Object.fromEntries([..."abcdef"].map((name) => [name, { $ref: SELF }]));
    const spec = await tool(document(body({ type: "object", properties })));
    expect(() => compileValidator(spec.schema, { foreign: true })).not.toThrow();
    expect(JSON.stringify(spec.schema).length).toBeLessThan(2_000);
  });

  test("that multiply end one operation with a reason", () => {
    const names = Array.from({ length: 12 }, (_, index) => `k${index}`);
    const at = (name: string) => ({ $ref: `#/x-parts/${name}` });
    const all = { type: "object", properties: Object.fromEntries(names.map((name) => [name, at(name)])) };
    const parts = Object.fromEntries(names.map((name) => [name, all]));
    expect(imported(document(body(at("k0")), { "x-parts": parts })).leftOut).toEqual([
      { operation: "POST /x", reason: "its references open far too many schemas" },
    ]);
  });

  test("to another file are told, wherever they stand", () => {
    const remote = { $ref: "other.yaml#/Thing" };
    expect(imported(document(body({ type: "object", properties: { a: remote } }))).leftOut).toEqual([
      { operation: "POST /x", reason: "it refers to another file: other.yaml#/Thing" },
    ]);
    const components = { schemas: { Outer: { type: "object", properties: { a: remote } }, Other: {} } };
    const shared = document(body({ $ref: "#/components/schemas/Outer" }), { components });
    expect(imported(shared).leftOut).toMatchObject([{ reason: expect.stringContaining("does not exist") }]);
  });
});

describe("credentials", () => {
  const components = {
    securitySchemes: {
      user: { type: "oauth2" },
      app: { type: "http", scheme: "bearer" },
      key: { type: "apiKey", in: "query", name: "key" },
    },
  };

  test("of several schemes for one header are sent once", async () => {
    const spec = await tool(document({ security: [{ user: [], app: [] }] }, { components }));
    expect(spec.auth).toEqual([{ type: "bearer", tokenEnv: "T_TOKEN" }]);
  });

  test("that are described as parameters too are not asked of a model", async () => {
    const parameters = [
      { name: "key", in: "query", required: true },
      { name: "q", in: "query" },
      { name: "X-Auth-Token", in: "header", required: true },
      { name: "X-Other-Token", in: "header" },
    ];
    const spec = await tool(document({ method: "get", parameters, security: [{ key: [] }] }, { components }));
    expect(spec.parameters.map(({ name }) => name)).toEqual(["q"]);
    expect(spec.auth).toEqual([
      { type: "query", name: "key", valueEnv: "T_API_KEY" },
      { type: "header", name: "X-Auth-Token", valueEnv: "T_X_AUTH_TOKEN", prefix: "" },
    ]);
  });

  test("in the address of the document do not get into the file", () => {
    const { file } = imported(document({}), { documentUrl: "https://a.example/api.json?token=hush" });
    expect(file.imported).toMatchObject({ from: "https://a.example/api.json" });
  });
});

describe("sloppy documents", () => {
  test("a default that the choices do not allow, an empty tag, a title that begins with a digit", async () => {
    const parameters = [{ name: "how", in: "query", schema: { enum: ["a", "b"], default: "c" } }];
    const from = document({ method: "get", parameters, tags: ["", "x"] }, { info: { title: "3D Prints" } });
    const spec = await tool(from);
    expect(spec).toMatchObject({ name: "api_3d_prints_op", toolset: "api_3d_prints", tags: ["x"] });
    expect(addressOf(spec, {})).toBe("https://a.example/x");
  });

  test("a server that is a form to fill in is passed over for one that is whole", () => {
    const servers = [
      { url: "https://{tenant}.example" },
      { url: "https://b.example/?v=1" },
      { url: "https://c.example/" },
    ];
    expect(imported(document({}, { servers })).file.defaults).toMatchObject({
      base_url: "https://c.example",
    });
  });

  const folder = join(tmpdir(), `hermes-openapi-${process.pid}`);
  afterAll(() => rmSync(`${folder}.yaml`, { force: true }));

  test.each([
    ["merge keys", "openapi: 3.0.0\nx: &x { a: 1, b: 2 }\ny: &y { b: 3, c: 4 }\nz: { <<: [*x, *y], c: 5 }\n"],
    ["a mark at its beginning", '\uFEFF{"openapi":"3.0.0","z":{"a":1,"b":2,"c":5}}'],
  ])("%s", async (_, text) => {
    writeFileSync(`${folder}.yaml`, text);
    const opened = await openDocument(`${folder}.yaml`, { allowPrivate: false });
    expect(opened).toMatchObject({ ok: true, document: { z: { a: 1, b: 2, c: 5 } } });
    expect(opened.ok && Object.keys((opened.document as { z: object }).z).sort()).toEqual(["a", "b", "c"]);
  });
});
