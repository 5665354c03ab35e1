import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { importOpenApi, toolNames } from "../../../src/toolfile/openapi/convert.js";
import { renderToolFile } from "../../../src/toolfile/openapi/render.js";
import { readToolFile } from "../../../src/toolfile/read-file.js";
import { startServer, yamlRuntime } from "../yaml/setup.js";

const here = import.meta.dirname;
const petstore: unknown = parse(readFileSync(join(here, "petstore.yaml"), "utf8"));
const swagger: unknown = JSON.parse(readFileSync(join(here, "swagger.json"), "utf8"));

function imported(document: unknown, options: Parameters<typeof importOpenApi>[1] = {}) {
  const done = importOpenApi(document, options);
  if (!done.ok) throw new Error(done.message);
  return done;
}

/** The tools of a document, in a runtime that talks to a real server. */
async function running(document: unknown, variables: Record<string, string>) {
  const server = await startServer();
  const { file } = imported(document, { baseUrl: `${server.base}/v1` });
  return { ...(await yamlRuntime({ "x.openapi.yaml": await renderToolFile(file) }, { variables })), server };
}

describe("OpenAPI 3", () => {
  test("each operation is one tool; what cannot be one is told with its reason", () => {
    const { service, tools, leftOut } = imported(petstore);
    expect(service).toBe("petstore");
    expect(tools.map(({ name }) => name)).toEqual([
      "petstore_listPets",
      "petstore_replacePet",
      "petstore_growTree",
      "petstore_addNote",
    ]);
    expect(leftOut).toEqual([
      { operation: "DELETE /pets/{id}", reason: "it wants mutualTLS authentication" },
      { operation: "POST /pets/{id}/photo", reason: "its body is multipart/form-data" },
      { operation: "GET /session", reason: "parameter sid is in a cookie" },
    ]);
  });

  test("values of one name in path and body do not clash, references stay references", async () => {
    const { call, server, registry } = await running(petstore, {
      PETSTORE_USERNAME: "me",
      PETSTORE_PASSWORD: "long-enough-password",
    });
    const done = await call("petstore_replacePet", {
      id: 7,
      body_id: "B-7",
      name: "Rex",
      tag: null,
      weight: 2.5,
      mother: { name: "Ada", parents: [{ name: "Eve" }] },
    });
    expect(done.ok).toBe(true);
    expect(server.seen[0]).toMatchObject({ method: "PUT", url: "/v1/pets/7" });
    expect(server.seen[0]?.headers.authorization).toMatch(/^Basic /);
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({
      id: "B-7",
      name: "Rex",
      tag: null,
      weight: 2.5,
      mother: { name: "Ada", parents: [{ name: "Eve" }] },
    });
    const tool = registry.get("petstore_replacePet");
    expect(tool).toMatchObject({ permissions: ["network:write"], toolset: "petstore", tags: ["pets"] });
    expect(tool?.parameters).toMatchObject({
      required: ["id", "name"],
      properties: { weight: { exclusiveMinimum: 0 }, tag: { type: ["string", "null"] } },
      $defs: { Pet: { properties: { parents: { items: { $ref: "#/$defs/Pet" } } } } },
    });
    const wrong = await call("petstore_replacePet", { id: 7, name: "Rex", mother: { parents: "none" } });
    expect(wrong.error?.code).toBe("invalid_arguments");
  });

  test("lists and objects are written into the query as the document says", async () => {
    const { call, server } = await running(petstore, { PETSTORE_API_KEY: "key-key-key-key" });
    await call("petstore_listPets", {
      status: ["free", "sold"],
      colours: ["red", "blue"],
      filter: { age: "3", kind: "cat" },
      "X-Trace-Id": "t1",
    });
    expect(server.seen[0]).toMatchObject({
      method: "GET",
      headers: { "x-pet-key": "key-key-key-key", "x-trace-id": "t1" },
    });
    expect(decodeURIComponent(server.seen[0]?.url ?? "")).toBe(
      "/v1/pets?limit=20&status=free&status=sold&colours=red,blue&filter[age]=3&filter[kind]=cat",
    );
  });

  test("a body that is no plain object is given as a whole; security: [] means none", async () => {
    const { call, server } = await running(petstore, { PETSTORE_API_KEY: "key-key-key-key" });
    await call("petstore_growTree", { body: { children: [{ children: [] }], age: 3 } });
    await call("petstore_addNote", { body: "plain words" });
    expect(
      server.seen.map(({ body, headers }) => [headers["content-type"], body, headers["x-pet-key"]]),
    ).toEqual([
      ["application/json", '{"children":[{"children":[]}],"age":3}', undefined],
      ["text/plain", "plain words", "key-key-key-key"],
    ]);
  });

  test("can be narrowed by name, address and tag, and given other credentials", () => {
    const names = (options: Parameters<typeof imported>[1]) =>
      imported(petstore, options).tools.map(({ name }) => name);
    expect(names({ include: ["GET *"], exclude: ["GET /session"] })).toEqual(["petstore_listPets"]);
    expect(names({ include: ["*Pet", "list*"], exclude: ["*listPets"] })).toEqual(["petstore_replacePet"]);
    expect(names({ tags: ["pets"], prefix: "zoo" })).toEqual(["zoo_listPets", "zoo_replacePet"]);
    const { file, leftOut } = imported(petstore, { auth: [{ type: "bearer", token_env: "ZOO" }] });
    expect(file).toMatchObject({ defaults: { auth: { type: "bearer", token_env: "ZOO" } } });
    expect(leftOut.map(({ operation }) => operation)).not.toContain("DELETE /pets/{id}");
  });
});

test("Swagger 2: host, forms, lists and references of its own kind", async () => {
  const { file, leftOut } = imported(swagger);
  expect(file).toMatchObject({
    imported: { format: "swagger 2.0" },
    defaults: {
      base_url: "https://shop.example.com/api",
      auth: { type: "query", name: "api_key", value_env: "OLD_SHOP_API_KEY" },
    },
  });
  expect(leftOut).toEqual([{ operation: "POST /upload", reason: "its body is multipart/form-data" }]);
  const { call, server, registry } = await running(swagger, { OLD_SHOP_API_KEY: "key-key-key" });
  await call("old_shop_orders_list", { page: 1, state: ["new", "paid"] });
  await call("old_shop_orders_add", { sku: "A1", next: { sku: "B2" } });
  await call("old_shop_post_login", { user: "me & you", remember: true });
  expect(server.seen.map(({ url, body }) => [url, body])).toEqual([
    ["/v1/orders?page=1&state=new%7Cpaid&api_key=key-key-key", ""],
    ["/v1/orders?api_key=key-key-key", '{"sku":"A1","next":{"sku":"B2"}}'],
    ["/v1/login?api_key=key-key-key", "user=me+%26+you&remember=true"],
  ]);
  expect(registry.get("old_shop_orders_list")?.parameters).toMatchObject({
    properties: { page: { exclusiveMinimum: 0 } },
  });
});

test("the description of this program's own server", async () => {
  const [{ describeRoutes }, { ROUTES }] = await Promise.all([
    import("../../../src/server/openapi.js"),
    import("../../../src/server/routes.js"),
  ]);
  const { tools, leftOut } = imported(describeRoutes(ROUTES), {
    baseUrl: "http://127.0.0.1:9119",
    prefix: "hermes",
  });
  expect(tools.length).toBeGreaterThan(5);
  expect(tools.map(({ path }) => path)).toContain("/v1/tools");
  for (const { reason } of leftOut) expect(reason).toMatch(/body|parameter|authentication/);
});

describe("a document that is none", () => {
  test.each<[unknown, RegExp]>([
    [{}, /no OpenAPI document/],
    [null, /no OpenAPI document/],
    [{ openapi: "4.0.0", paths: {} }, /version 4\.0\.0 is not supported/],
    [{ openapi: "3.0.0", paths: {} }, /does not say where the service is/],
    [
      { openapi: "3.1.0", servers: [{ url: "https://{tenant}.example.com" }], paths: {} },
      /does not say where/,
    ],
  ])("%j", (document, message) => {
    expect(importOpenApi(document)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });

  test("references to elsewhere, to nothing and in circles end one operation, not the import", () => {
    const at = (parameter: unknown) => ({ get: { parameters: [parameter] } });
    const { tools, leftOut } = imported({
      openapi: "3.1.0",
      servers: [{ url: "https://x.example" }],
      components: { parameters: { Loop: { $ref: "#/components/parameters/Loop" } } },
      paths: {
        "/a": at({ $ref: "other.yaml#/x" }),
        "/b": at({ $ref: "#/components/parameters/None" }),
        "/c": at({ $ref: "#/components/parameters/Loop" }),
        "/e": { $ref: "paths.yaml#/e" },
        "/d": at({ name: "q", in: "query" }),
      },
    });
    expect(tools.map(({ path }) => path)).toEqual(["/d"]);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("paths.yaml"),
      expect.stringContaining("another file"),
      expect.stringContaining("is not there"),
      expect.stringContaining("circles"),
    ]);
  });
});

describe("names", () => {
  const operation = (method: string, path: string, operationId?: string) => ({ method, path, operationId });

  test("are made from method and path where there is no id, and cut with a hash", () => {
    const long = operation("GET", "/x", "a".repeat(100));
    const named = toolNames("svc", [operation("GET", "/pets/{id}/toys"), long]);
    expect([...named.values()]).toEqual([
      "svc_get_pets_id_toys",
      expect.stringMatching(/^svc_a{51}_[0-9a-f]{8}$/),
    ]);
  });

  test("are valid, different, and do not depend on the order of the document", () => {
    const one = fc.record({
      method: fc.constantFrom("GET", "POST"),
      path: fc.string({ maxLength: 8 }).map((text) => `/${text}`),
      operationId: fc.option(fc.string({ maxLength: 90 }), { nil: undefined }),
    });
    const list = fc.uniqueArray(one, { maxLength: 12, selector: ({ method, path }) => `${method} ${path}` });
    fc.assert(
      fc.property(list, (operations) => {
        const named = toolNames("svc", operations);
        const names = [...named.values()];
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
        for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        const reversed = toolNames("svc", operations.toReversed());
        for (const each of operations) expect(reversed.get(each)).toBe(named.get(each));
      }),
    );
  });
});

test("a large service is written so that it is read at once, and reads the same", async () => {
  const paths = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [
      `/things/${index}/{id}`,
      {
        get: {
          operationId: `getThing${index}`,
          summary: "Get it",
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        },
        post: {
          operationId: `setThing${index}`,
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
          },
        },
      },
    ]),
  );
  const Thing = {
    type: "object",
    properties: { name: { type: "string" }, inner: { $ref: "#/components/schemas/Thing" } },
    required: ["name"],
  };
  const { file, tools } = imported({
    openapi: "3.0.0",
    info: { title: "Big" },
    servers: [{ url: "https://big.example" }],
    paths,
    components: { schemas: { Thing } },
  });
  const text = await renderToolFile(file);
  expect(tools).toHaveLength(600);
  expect(text.startsWith("{")).toBe(true);
  const reading = await readToolFile(text);
  expect(reading.ok && reading.tools.length).toBe(600);
  const broken = await readToolFile(text.replace('"method": "GET"', '"method": "GOT"'));
  expect(broken.ok ? undefined : broken.problems[0]).toMatchObject({ place: { line: expect.any(Number) } });
});
