import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import tool from "../../../src/tools/platform/api-call.js";
import { onTestEnd, tempDir, testRuntime } from "../../support/runtime.js";

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const PET = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    age: { type: "integer", minimum: 0 },
    mother: { $ref: "#/components/schemas/Pet" },
  },
};

function description(server: string | undefined) {
  return {
    openapi: "3.0.3",
    info: { title: "Pet shop", version: "1" },
    ...(server !== undefined && { servers: [{ url: server }] }),
    components: {
      schemas: { Pet: PET },
      securitySchemes: {
        key: { type: "apiKey", in: "query", name: "key" },
        token: { type: "http", scheme: "bearer" },
      },
    },
    paths: {
      "/pets": {
        get: {
          operationId: "listPets",
          summary: "All pets",
          parameters: [
            { name: "limit", in: "query", schema: { type: "integer", maximum: 100, default: 10 } },
            { name: "tag", in: "query", schema: { type: "array", items: { type: "string" } } },
          ],
        },
        post: {
          operationId: "addPet",
          security: [{ token: [] }],
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
          },
        },
      },
      "/pets/{petId}": {
        get: { parameters: [{ name: "petId", in: "path", required: true, schema: { type: "string" } }] },
        delete: {
          operationId: "removePet",
          security: [{ key: [] }],
          parameters: [{ name: "petId", in: "path", required: true, schema: { type: "string" } }],
        },
      },
      "/photo": {
        post: { operationId: "upload", requestBody: { content: { "image/png": {} } } },
      },
    },
  };
}

async function startService(): Promise<{ readonly base: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { base } = service;
    if (request.url === "/openapi.json") return void response.end(JSON.stringify(description(`${base}/v1`)));
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    response.setHeader("content-type", "application/json");
    if (request.url?.startsWith("/v1/pets/gone") === true) response.statusCode = 404;
    response.end(JSON.stringify({ did: `${request.method} ${request.url}`, got: body }));
  });
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const service = { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
  return service;
}

async function opened(
  services: Readonly<Record<string, unknown>>,
  {
    env = {},
    home = tempDir(),
  }: { readonly env?: Readonly<Record<string, string>>; readonly home?: string } = {},
) {
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ services }));
  const { runtime } = await testRuntime([tool], {
    home,
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  const session = await runtime.openSession();
  return {
    session,
    call: (args: Readonly<Record<string, unknown>>) =>
      session.call({ name: "api_call", arguments: { ...args } }),
  };
}

describe("what there is", () => {
  it("lists services, and the operations of one with what they take", async () => {
    const service = await startService();
    const { call, session } = await opened({ pets: { openapi: `${service.base}/openapi.json` } });
    expect((await call({ service: "*", operation: "list" })).structured).toMatchObject({
      services: [{ name: "pets" }],
    });
    const { structured, untrusted_from } = await call({ service: "pets", operation: "list" });
    expect(untrusted_from).toEqual(["api:pets"]);
    expect(structured).toMatchObject({
      service: "pets",
      total_operations: 4,
      operations: [
        { operation: "listPets", method: "GET", path: "/pets", description: "All pets" },
        { operation: "addPet", signature: expect.stringMatching(/^addPet\(name: string/) },
        { operation: "get_pets_petId" },
        { operation: "removePet" },
      ],
      left_out: [{ operation: "POST /photo" }],
    });
    expect(JSON.stringify(await session.definitions())).toContain("registered service (pets)");
  });

  it("a service or an operation that is not there is told with what is", async () => {
    const service = await startService();
    const { call } = await opened({ pets: { openapi: `${service.base}/openapi.json` } });
    expect((await call({ service: "cats", operation: "list" })).error).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("there are: pets"),
    });
    expect((await call({ service: "pets", operation: "listPet" })).error).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("listPets"),
    });
    expect((await call({ service: "pets", operation: "POST /photo" })).error?.message).toContain("image/png");
    const none = await opened({});
    expect((await none.call({ service: "pets", operation: "list" })).error?.hint).toContain(
      "hermes config set services.NAME.openapi",
    );
  });
});

describe("a call", () => {
  it("goes where the operator said, with params in their places", async () => {
    const service = await startService();
    const { call } = await opened({ pets: { openapi: `${service.base}/openapi.json` } });
    const listed = await call({
      service: "pets",
      operation: "listPets",
      params: { tag: ["a b", "c"], limit: "5" },
    });
    expect(listed.structured).toMatchObject({
      status: 200,
      ok: true,
      url: `${service.base}/v1/pets?limit=5&tag=a%20b&tag=c`,
      body: expect.stringContaining("/v1/pets"),
    });
    expect(listed.untrusted_from).toHaveLength(1);
    const missing = await call({
      service: "pets",
      operation: "GET /pets/{petId}",
      params: { petId: "gone/../x" },
    });
    expect(missing.structured).toMatchObject({ status: 404, ok: false, operation: "get_pets_petId" });
    expect(service.seen.at(-1)?.line).toBe("GET /v1/pets/gone%2F..%2Fx");
  });

  it("params are held against the schema before anything is sent", async () => {
    const service = await startService();
    const { call } = await opened(
      { pets: { openapi: `${service.base}/openapi.json` } },
      { env: { PETS_TOKEN: "t-0123456789" } },
    );
    for (const params of [
      {},
      { name: { first: "Rex" } },
      { name: "Rex", age: -1 },
      { name: "Rex", colour: "red" },
    ]) {
      const { error } = await call({ service: "pets", operation: "addPet", params });
      expect([params, error?.code]).toEqual([params, "invalid_arguments"]);
    }
    expect(service.seen).toEqual([]);
  });

  it("credentials come from variables, by the names of the document or of the operator, and are not shown", async () => {
    const service = await startService();
    const openapi = `${service.base}/openapi.json`;
    const env = {
      PETS_TOKEN: "token-of-pets-1234",
      PETS_API_KEY: "key-of-pets-5678",
      MY_SHOP_WORD: "word-of-shop-9012",
    };
    const { call } = await opened(
      {
        pets: { openapi },
        shop: { openapi, auth: { type: "header", name: "X-Shop", value_env: "MY_SHOP_WORD" } },
      },
      { env },
    );
    const added = await call({
      service: "pets",
      operation: "addPet",
      params: { name: "Rex", mother: { name: "Kim" } },
    });
    expect(added.error).toBeUndefined();
    expect(service.seen.at(-1)).toMatchObject({
      line: "POST /v1/pets",
      headers: { authorization: "Bearer token-of-pets-1234", "content-type": "application/json" },
      body: '{"name":"Rex","mother":{"name":"Kim"}}',
    });
    const removed = await call({ service: "pets", operation: "removePet", params: { petId: "1" } });
    expect(service.seen.at(-1)?.line).toBe("DELETE /v1/pets/1?key=key-of-pets-5678");
    expect(removed.structured).toMatchObject({ url: `${service.base}/v1/pets/1` });
    const own = await call({ service: "shop", operation: "listPets" });
    expect(service.seen.at(-1)?.headers["x-shop"]).toBe("word-of-shop-9012");
    expect(JSON.stringify([added, removed, own])).not.toMatch(/token-of-pets|key-of-pets|word-of-shop/);
  });

  it("a missing variable is named, and nothing is sent", async () => {
    const service = await startService();
    const { call } = await opened({ pets: { openapi: `${service.base}/openapi.json` } });
    const { error } = await call({ service: "pets", operation: "addPet", params: { name: "Rex" } });
    expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("PETS_TOKEN") });
    expect(service.seen).toEqual([]);
  });

  it("base_url decides for a description in a file; without it, a private address of the file is refused", async () => {
    const service = await startService();
    const home = tempDir();
    writeFileSync(join(home, "pets.json"), JSON.stringify(description(`${service.base}/v1`)));
    const { call } = await opened(
      {
        pets: { openapi: "pets.json", base_url: `${service.base}/v2` },
        bare: { openapi: join(home, "pets.json") },
      },
      { home },
    );
    expect((await call({ service: "pets", operation: "listPets" })).structured).toMatchObject({
      status: 200,
    });
    expect(service.seen.at(-1)?.line).toBe("GET /v2/pets?limit=10");
    const refused = await call({ service: "bare", operation: "listPets" });
    expect(["denied", "blocked"]).toContain(refused.error?.code);
    expect(service.seen).toHaveLength(1);
  });

  it("a description that cannot be read or understood is the operator's to mend", async () => {
    const home = tempDir();
    writeFileSync(join(home, "broken.json"), '{"hello": 1}');
    const { call } = await opened(
      { broken: { openapi: "broken.json" }, gone: { openapi: "gone.json" } },
      { home },
    );
    for (const service of ["broken", "gone"]) {
      const { error } = await call({ service, operation: "list" });
      expect([service, error?.code]).toEqual([service, "unavailable"]);
      expect(error?.hint).toContain(`services.${service}`);
    }
  });
});
