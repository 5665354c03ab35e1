import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { json, startServer, yamlRuntime } from "./setup.js";

const SEED = (base: string) => `tools:
  - name: jira_create_ticket
    description: "Create a ticket in Jira"
    type: http_wrapper
    endpoint: "${base}/rest/api/3/issue"
    method: POST
    auth:
      type: basic
      username_env: JIRA_USER
      password_env: JIRA_API_TOKEN
    parameters:
      - name: summary
        type: string
        required: true
      - name: priority
        type: string
        enum: [Highest, High, Medium, Low, Lowest]
        default: Medium
      - name: project_key
        type: string
        required: true
    tags: [jira, project-management]
    timeout_seconds: 30
`;

const JIRA = { JIRA_USER: "alice@example.com", JIRA_API_TOKEN: "s3cr3t-token-value" };

describe("the example of the documents", () => {
  test("posts its parameters as JSON with basic authentication", async () => {
    const server = await startServer((_, response) => json(response, { key: "OPS-7" }, 201));
    const { call } = await yamlRuntime({ "jira.yaml": SEED(server.base) }, { variables: JIRA });
    const result = await call("jira_create_ticket", { summary: "Disk full", project_key: "OPS" });
    expect(result).toMatchObject({ ok: true, structured: { key: "OPS-7" } });
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: "POST", url: "/rest/api/3/issue" });
    expect(JSON.parse(seen?.body ?? "")).toEqual({
      summary: "Disk full",
      priority: "Medium",
      project_key: "OPS",
    });
    expect(seen?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: `Basic ${Buffer.from("alice@example.com:s3cr3t-token-value").toString("base64")}`,
    });
  });

  test("says which variables are missing, and is ready when they are set", async () => {
    const { runtime } = await yamlRuntime({ "jira.yaml": SEED("http://127.0.0.1:9") });
    const [listing] = await runtime.listTools();
    expect(listing).toMatchObject({
      name: "jira_create_ticket",
      available: false,
      reason: "not set: JIRA_USER, JIRA_API_TOKEN",
      toolset: "custom",
      permissions: ["network:write"],
      provenance: { kind: "yaml" },
    });
    const ready = await yamlRuntime({ "jira.yaml": SEED("http://127.0.0.1:9") }, { variables: JIRA });
    expect(await ready.runtime.listTools()).toMatchObject([{ available: true }]);
  });
});

/** One GET tool with these extra lines. */
function tool(base: string, lines: string, endpoint = "/echo"): Record<string, string> {
  const indented = lines
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return {
    "one.yaml": `tools:\n  - name: one\n    description: A tool\n    type: http_wrapper\n    endpoint: ${base}${endpoint}\n${indented}\n`,
  };
}

describe("parameters", () => {
  test("go into path, query, header and body, each under its own name", async () => {
    const server = await startServer();
    const { call } = await yamlRuntime(
      tool(
        server.base,
        `method: PATCH
parameters:
  - { name: id, type: string, required: true }
  - { name: verbose, type: boolean, in: query }
  - { name: tags, type: array, items: { type: string }, in: query }
  - { name: csv, type: array, items: { type: integer }, in: query, explode: false }
  - { name: trace, type: string, in: header, send_as: X-Trace-Id }
  - { name: title, type: string }
  - { name: count, type: integer, send_as: item-count }
headers: { X-Client: "hermes/{{id}}" }`,
        "/items/{id}?v=1",
      ),
    );
    const done = await call("one", {
      id: "a/b c?#%",
      verbose: true,
      tags: ["x", "y&z"],
      csv: [1, 2],
      trace: "t-1",
      title: "Hi",
      count: 3,
    });
    expect(done.ok).toBe(true);
    expect(server.seen[0]).toMatchObject({
      method: "PATCH",
      url: "/items/a%2Fb%20c%3F%23%25?v=1&verbose=true&tags=x&tags=y%26z&csv=1%2C2",
      headers: { "x-trace-id": "t-1", "x-client": "hermes/a/b c?#%" },
    });
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ title: "Hi", "item-count": 3 });
  });

  test.each(["..", ".", ""])("a path value %j is refused before anything is sent", async (id) => {
    const server = await startServer();
    const { call } = await yamlRuntime(
      tool(server.base, "parameters: [{ name: id, type: string, required: true }]", "/users/{id}/keys"),
    );
    expect(await call("one", { id })).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
    expect(server.seen).toEqual([]);
  });

  test("a header value cannot bring a second header with it", async () => {
    const server = await startServer();
    const { call } = await yamlRuntime(
      tool(server.base, "parameters: [{ name: trace, type: string, in: header }]"),
    );
    expect(await call("one", { trace: "a\r\nx-admin: 1" })).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments" },
    });
    expect(server.seen).toEqual([]);
  });

  test("may be one JSON Schema", async () => {
    const server = await startServer();
    const { call, runtime } = await yamlRuntime(
      tool(
        server.base,
        `parameters:
  type: object
  required: [city]
  properties:
    city: { type: string, minLength: 2 }
    days: { type: integer, default: 3, in: header, send_as: X-Days }`,
      ),
    );
    await call("one", { city: "Ulm" });
    expect(server.seen[0]).toMatchObject({ url: "/echo?city=Ulm", headers: { "x-days": "3" } });
    expect(runtime.registry.get("one")?.parameters).toEqual({
      type: "object",
      properties: { city: { type: "string", minLength: 2 }, days: { type: "integer", default: 3 } },
      required: ["city"],
      additionalProperties: false,
    });
  });
});

describe("a body", () => {
  test("is a template whose whole values keep their types, and what is missing is left out", async () => {
    const server = await startServer();
    const { call } = await yamlRuntime(
      tool(
        server.base,
        `method: POST
parameters:
  - { name: title, type: string, required: true }
  - { name: points, type: integer }
  - { name: labels, type: array, items: { type: string } }
body:
  fields: { summary: "[auto] {{title}}", points: "{{points}}", labels: "{{labels}}", first: "{{labels[0]}}" }
  fixed: [1, true, null, "{{points}}"]`,
      ),
    );
    await call("one", { title: 'say "hi"', labels: ["a", "b"] });
    await call("one", { title: "t", points: 5 });
    expect(server.seen.map(({ body }) => JSON.parse(body))).toEqual([
      { fields: { summary: '[auto] say "hi"', labels: ["a", "b"], first: "a" }, fixed: [1, true, null] },
      { fields: { summary: "[auto] t", points: 5 }, fixed: [1, true, null, 5] },
    ]);
  });

  test("can be a form or plain text", async () => {
    const server = await startServer();
    const parameters = "parameters: [{ name: text, type: string, required: true }]";
    const form = await yamlRuntime(
      tool(server.base, `method: POST\ncontent_type: application/x-www-form-urlencoded\n${parameters}`),
    );
    await form.call("one", { text: "a&b=c" });
    const plain = await yamlRuntime(
      tool(server.base, `method: POST\ncontent_type: text/plain\nbody: "> {{text}}"\n${parameters}`),
    );
    await plain.call("one", { text: "a&b=c" });
    expect(server.seen.map(({ body, headers }) => [headers["content-type"], body])).toEqual([
      ["application/x-www-form-urlencoded", "text=a%26b%3Dc"],
      ["text/plain", "> a&b=c"],
    ]);
  });
});

describe("credentials", () => {
  const KEY = "k3y-with-some-length";

  test.each([
    ["{ type: bearer, token_env: KEY }", { authorization: `Bearer ${KEY}` }, "/echo"],
    ["{ type: header, name: X-Api-Key, value_env: KEY }", { "x-api-key": KEY }, "/echo"],
    [
      '{ type: header, name: Authorization, value_env: KEY, prefix: "Token " }',
      { authorization: `Token ${KEY}` },
      "/echo",
    ],
    ["{ type: query, name: api_key, value_env: KEY }", {}, `/echo?api_key=${KEY}`],
  ])("%s", async (auth, headers, url) => {
    const server = await startServer();
    const { call } = await yamlRuntime(tool(server.base, `auth: ${auth}`), { variables: { KEY } });
    const done = await call("one");
    expect(server.seen[0]).toMatchObject({ url, headers });
    // The server echoed everything; nothing of it may reach a model.
    expect(JSON.stringify(done)).not.toContain(KEY);
    expect(JSON.stringify(done)).toContain("REDACTED");
  });

  test("stay at home when the server redirects to another origin", async () => {
    const other = await startServer();
    const server = await startServer((_, response) => {
      response.writeHead(307, { location: `${other.base}/elsewhere` }).end();
    });
    const { call } = await yamlRuntime(
      tool(server.base, "auth: { type: header, name: X-Key, value_env: KEY }"),
      {
        variables: { KEY },
      },
    );
    await call("one");
    expect(other.seen[0]?.url).toBe("/elsewhere");
    expect(other.seen[0]?.headers["x-key"]).toBeUndefined();
  });

  test("in the query are not told by errors, even short ones", async () => {
    const { call } = await yamlRuntime(
      tool("http://127.0.0.1:1", "auth: { type: query, name: k, value_env: KEY }"),
      { variables: { KEY: "pin42" } },
    );
    const done = await call("one");
    expect(done.ok).toBe(false);
    expect(JSON.stringify(done)).not.toContain("pin42");
  });

  test("the exact address without the credential is what is judged", async () => {
    const { runtime } = await yamlRuntime(
      tool(
        "http://127.0.0.1:9",
        "auth: { type: query, name: k, value_env: KEY }\nparameters: [{ name: q, type: string }]",
      ),
      { variables: { KEY } },
    );
    const session = await runtime.openSession();
    const told = await session.explainCall({ name: "one", arguments: { q: "a b" } });
    session.close();
    expect(told.effects).toEqual([
      { action: "network:fetch", resource: "http://127.0.0.1:9/echo?q=a%20b", mode: "read" },
    ]);
  });
});

describe("an answer", () => {
  const BODY = {
    data: {
      items: [
        { id: 1, on: true },
        { id: 2, on: false },
      ],
      total: 2,
    },
    note: null,
  };

  test.each([
    ["response: $.data.total", 2],
    ["response: $.data.items[*].id", [1, 2]],
    ["response: { select: '$.data.items[?@.on == true].id' }", [1]],
    [
      "response: { fields: { first: '$.data.items[0].id', all: '$..id', none: $.nowhere } }",
      { first: 1, all: [1, 2], none: null },
    ],
    ["tags: [x]", BODY],
  ])("%s", async (lines, expected) => {
    const server = await startServer((_, response) => json(response, BODY));
    const { call } = await yamlRuntime(tool(server.base, lines));
    const done = await call("one");
    expect(done.structured ?? JSON.parse(done.human)).toEqual(expected);
  });

  test("that does not hold what is wanted is an error that says what it holds", async () => {
    const server = await startServer((_, response) => json(response, { result: 1 }));
    const { call } = await yamlRuntime(tool(server.base, "response: $.data"));
    expect(await call("one")).toMatchObject({
      ok: false,
      error: { code: "failed", message: expect.stringContaining("nothing at $.data") },
    });
  });

  test("with an error status becomes an error in the service's own words", async () => {
    const server = await startServer((_, response) =>
      json(response, { errors: [{ detail: "no such project" }, { detail: "try again" }] }, 404),
    );
    const { call } = await yamlRuntime(tool(server.base, "response: { error_path: '$.errors[*].detail' }"));
    expect((await call("one")).error?.message).toContain("HTTP 404 Not Found: no such project; try again");
  });

  test("may report an error with status 200, and success with another one", async () => {
    const server = await startServer((_, response) => json(response, { ok: false, error: "invalid_auth" }));
    const slack = await yamlRuntime(tool(server.base, "response: { error_path: $.error }"));
    expect((await slack.call("one")).error?.message).toContain("invalid_auth");
    const moved = await startServer((_, response) => json(response, { there: "yes" }, 404));
    const { call } = await yamlRuntime(tool(moved.base, "response: { success: [2xx, 404] }"));
    expect(await call("one")).toMatchObject({ ok: true, structured: { there: "yes" } });
  });

  test("keeps numbers exact that JavaScript would round", async () => {
    const server = await startServer((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(
        '{"id":1234567890123456789,"n":[-98765432109876543210,12,1e21],"s":"\\"1234567890123456789"}',
      );
    });
    const { call } = await yamlRuntime(tool(server.base, "tags: [x]"));
    expect((await call("one")).structured).toEqual({
      id: "1234567890123456789",
      n: ["-98765432109876543210", 12, 1e21],
      s: '"1234567890123456789',
    });
  });

  test("that is too large, binary or empty does no harm", async () => {
    const server = await startServer(({ url }, response) => {
      if (url === "/empty") response.writeHead(204).end();
      else if (url === "/binary") response.end(Buffer.from([0, 255, 254, 1]));
      else response.end("x".repeat(2000));
    });
    const large = await yamlRuntime(tool(server.base, "response: { max_bytes: 1000 }"));
    expect((await large.call("one")).error?.message).toContain("larger than 1000 bytes");
    const plain = await yamlRuntime(tool(server.base, "response: { format: text }"));
    expect(await plain.call("one")).toMatchObject({ ok: true, human: "x".repeat(2000) });
    const binary = await yamlRuntime(tool(server.base, "tags: [x]", "/binary"));
    expect(await binary.call("one")).toMatchObject({ ok: true, structured: { bytes: 4 } });
    const empty = await yamlRuntime(tool(server.base, "tags: [x]", "/empty"));
    expect(await empty.call("one")).toMatchObject({ ok: true, structured: { status: 204 } });
  });

  test("that unpacks to far more than was sent is not unpacked to its end", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const server = await startServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" }).end(bomb);
    });
    const { call } = await yamlRuntime(tool(server.base, "response: { max_bytes: 100000 }"));
    expect((await call("one")).error?.message).toContain("larger than 100000 bytes");
  });

  test("that stops in the middle ends the call, and is asked for only once", async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half of it");
    });
    const { call } = await yamlRuntime(tool(server.base, "timeout_seconds: 0.3\nretries: 2"));
    expect(await call("one")).toMatchObject({ ok: false, error: { code: "timeout" } });
    expect(server.seen).toHaveLength(1);
  });

  test("that does not come in time ends the call", async () => {
    const server = await startServer(() => undefined);
    const { call } = await yamlRuntime(tool(server.base, "timeout_seconds: 0.2"));
    expect(await call("one")).toMatchObject({ ok: false, error: { code: "timeout" } });
  });
});

describe("retries", () => {
  const RETRIES = "retries: { max: 2, delay_seconds: 0.01 }";

  async function counting(lines: string, statuses: readonly number[], after?: string) {
    let sent = 0;
    const server = await startServer((_, response) => {
      const status = statuses[sent] ?? 200;
      sent += 1;
      if (status === 0) response.socket?.destroy();
      else {
        if (after !== undefined && status !== 200) response.setHeader("retry-after", after);
        json(response, { sent }, status);
      }
    });
    const { call } = await yamlRuntime(tool(server.base, lines));
    return { done: await call("one"), sent };
  }

  test("send a request again after a passing failure", async () => {
    expect(await counting(RETRIES, [503, 0])).toMatchObject({ done: { ok: true }, sent: 3 });
  });

  test("are counted in the row of the call", async () => {
    let sent = 0;
    const server = await startServer((_, response) => {
      sent += 1;
      json(response, {}, sent < 3 ? 503 : 200);
    });
    const { call, runtime } = await yamlRuntime(tool(server.base, RETRIES), { journal: true });
    await call("one");
    await call("one");
    const journal = await runtime.journal();
    const rows = await journal.recent({ limit: 2 });
    expect(rows.map(({ tool: name, retries }) => [name, retries])).toEqual([
      ["one", undefined],
      ["one", 2],
    ]);
    expect((await journal.stats({ sinceMs: 0 })).total.retries).toBe(2);
  });

  test("give up after the last one", async () => {
    const { done, sent } = await counting(RETRIES, [503, 503, 503, 503]);
    expect(done.error?.message).toContain("HTTP 503");
    expect(sent).toBe(3);
  });

  test("never repeat what might have been done, unless the file says so", async () => {
    expect(await counting(`method: POST\n${RETRIES}`, [503])).toMatchObject({ sent: 1 });
    expect(
      await counting("method: POST\nretries: { max: 1, any_method: true, delay_seconds: 0 }", [503]),
    ).toMatchObject({
      done: { ok: true },
      sent: 2,
    });
  });

  test("wait as long as the server asks, but not longer than the call may take", async () => {
    expect(await counting(`${RETRIES}\ntimeout_seconds: 5`, [429], "30")).toMatchObject({ sent: 1 });
    expect(await counting(RETRIES, [429], "0")).toMatchObject({ done: { ok: true }, sent: 2 });
  });

  test("do not repeat a mistake of the caller", async () => {
    expect(await counting(RETRIES, [400])).toMatchObject({ sent: 1 });
  });
});

describe("the guard", () => {
  test("refuses private addresses that nobody has opened, first or by redirect", async () => {
    const server = await startServer((_, response) => {
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    });
    const { call } = await yamlRuntime(tool(server.base, "tags: [x]"), { flags: {} });
    expect(await call("one")).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(server.seen).toEqual([]);
    const opened = await yamlRuntime(tool(server.base, "tags: [x]"));
    expect(await opened.call("one")).toMatchObject({ ok: false, error: { code: "blocked" } });
    expect(server.seen).toHaveLength(1);
  });
});
