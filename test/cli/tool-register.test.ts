import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watchedRuntime } from "../runtime/reload/support.js";
import { errorLine, hermes, hermesJson, json, main, start, tempFolder, until } from "./hermes.js";
import { needsTerminal, onTerminal } from "./terminal.js";

const WEATHER = (address: string) => `tools:
  - name: weather_now
    description: The weather in a town
    type: http_wrapper
    endpoint: "${address}/weather/{town}"
    auth: { type: header, name: X-Key, value_env: WEATHER_KEY }
    parameters: [{ name: town, type: string, required: true, description: Name of the town }]
    response: $.sky
`;

let address = "";
const server = createServer((request, response) => {
  response.setHeader("content-type", "application/json");
  if (request.url === "/openapi.json")
    response.end(
      JSON.stringify({
        openapi: "3.1.0",
        info: { title: "Tiny API" },
        servers: [{ url: "/v2" }],
        paths: { "/ping/{n}": { get: { operationId: "ping", summary: "Ping" } } },
      }),
    );
  else
    response.end(JSON.stringify({ sky: `blue over ${request.url}`, key: request.headers["x-key"] ?? null }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A home that may reach this machine, and a file of tools beside it. */
function place(text = WEATHER(address)) {
  const home = tempFolder();
  writeFileSync(join(home, "config.yaml"), "security:\n  allow_private_urls: true\n");
  const file = join(home, "weather.yaml");
  writeFileSync(file, text);
  return { home, file, stored: join(home, "tools", "weather.yaml") };
}

describe("hermes tool register", () => {
  it("checks a file, stores it, says what is missing and what to try; the tool then works", async () => {
    const { home, file, stored } = place();
    const done = await hermes(["tool", "register", "--config", file], { home });
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain("weather_now");
    expect(done.stdout).toContain(`registered in ${stored}`);
    expect(done.stdout).toContain("not set yet: WEATHER_KEY");
    expect(done.stdout).toContain("try: hermes call weather_now town=text");
    expect(readFileSync(stored, "utf8")).toBe(WEATHER(address));
    expect(statSync(stored).mode & 0o077).toBe(0);
    const called = await hermes(["call", "weather_now", "town=Bad Tölz", "--json"], {
      home,
      env: { WEATHER_KEY: "k-123456789" },
    });
    expect(json(called)).toMatchObject({
      ok: true,
      content: [{ text: expect.stringContaining("\nblue over /weather/Bad%20T%C3%B6lz\n") }],
    });
    expect(await hermesJson(["tool", "unregister", "weather_now"], { home })).toMatchObject({
      file: stored,
      tools: ["weather_now"],
    });
    expect(existsSync(stored)).toBe(false);
  });

  it("tells every mistake with its place and stores nothing", async () => {
    const { home, file, stored } = place(
      WEATHER(address).replace("type: http_wrapper", "typ: http_wrapper\n    methode: GET"),
    );
    const asJson = await hermes(["tool", "register", "--config", file, "--json"], { home });
    expect([asJson.code, json(asJson)]).toMatchObject([
      2,
      {
        ok: false,
        problems: [{ file, line: 2, column: 5, hint: '"typ" is written there; did you mean "type"?' }],
      },
    ]);
    expect(existsSync(stored)).toBe(false);
  });

  it("replaces a different file only with --force, and changes nothing with --dry-run", async () => {
    const { home, file, stored } = place();
    mkdirSync(join(home, "tools"));
    writeFileSync(stored, "tools: []\n");
    const refused = await hermes(["tool", "register", "--config", file, "--json"], { home });
    expect([refused.code, errorLine(refused).hint]).toEqual([2, expect.stringContaining("--force")]);
    const dry = await hermesJson(["tool", "register", "--config", file, "--force", "--dry-run"], { home });
    expect(dry).toMatchObject({ ok: true, stored: "replaced", dry_run: true, missing_env: ["WEATHER_KEY"] });
    expect(readFileSync(stored, "utf8")).toBe("tools: []\n");
  });

  it("does not store a file whose letters would be lost", async () => {
    const { home, file, stored } = place();
    writeFileSync(file, Buffer.from(WEATHER(address).replace("a town", "einer Größe"), "latin1"));
    const done = await hermes(["tool", "register", "--config", file, "--json"], { home });
    expect([done.code, errorLine(done).message]).toEqual([2, expect.stringContaining("not UTF-8")]);
    expect(existsSync(stored)).toBe(false);
  });

  it("does not take a name that something else has", async () => {
    const { home, file } = place(WEATHER(address).replaceAll("weather_now", "terminal"));
    const done = await hermes(["tool", "register", "--config", file, "--json"], { home });
    expect(done.code).toBe(2);
    expect(json(done)).toMatchObject({
      ok: false,
      conflicts: [{ name: "terminal", taken_by: expect.stringContaining("builtin") }],
    });
  });

  it("hermes tools check reads a file of YAML tools and tries to break them", async () => {
    const { home, file } = place();
    const good = await hermesJson(["tools", "check", file, "--runs", "3", "--seed", "1"], { home });
    expect(good).toMatchObject({ ok: true, reports: [{ tool: "weather_now", violations: [] }] });
    const bad = place("tools: 5\n");
    const done = await hermes(["tools", "check", bad.file], { home: bad.home });
    expect([done.code, done.stdout]).toEqual([2, expect.stringContaining("weather.yaml:1:8: error:")]);
  });
});

describe("hermes tools import openapi", () => {
  it("makes tools from a document at an address, which then work", async () => {
    const { home } = place();
    const done = await hermesJson(["tools", "import", "openapi", `${address}/openapi.json`], { home });
    expect(done).toMatchObject({
      ok: true,
      service: "tiny",
      tools: [{ name: "tiny_ping", method: "GET", path: "/ping/{n}" }],
      left_out: [],
      missing_env: [],
      try: "hermes call tiny_ping n=text",
    });
    expect(await hermesJson(["call", "tiny_ping", "n=4"], { home })).toMatchObject({
      structured: { sky: "blue over /v2/ping/4" },
    });
  });

  it("typed at a terminal it needs no second yes of a running server, also for what waits there already", async ({
    skip,
  }) => {
    needsTerminal(skip);
    const { home } = place();
    const made = await watchedRuntime({}, { home, hold: "everything" });
    const words = ["tools", "import", "openapi", `${address}/openapi.json`];
    await hermesJson(words, { home });
    await made.watch.look();
    expect(made.runtime.changes?.held.map(({ path }) => path)).toEqual([
      join(home, "tools", "tiny.openapi.yaml"),
    ]);
    expect(made.runtime.registry.get("tiny_ping")).toBeUndefined();
    const typed = await onTerminal([process.execPath, main, ...words], { home, type: [] });
    expect(typed).toMatchObject({ code: 0, questions: 0 });
    await made.watch.look();
    expect(made.runtime.registry.get("tiny_ping")).toBeDefined();
    expect(made.runtime.changes?.held).toEqual([]);
    await onTerminal([process.execPath, main, ...words, "--prefix", "other"], { home, type: [] });
    await made.watch.look();
    expect(made.runtime.registry.get("other_ping")).toBeDefined();
  });

  it("says what to do when a service is too large for one file", async () => {
    const { home } = place();
    const choices = Array.from({ length: 100_000 }, (_, index) => `${index}-${"x".repeat(90)}`);
    const parameters = [{ name: "q", in: "query", schema: { type: "string", enum: choices } }];
    const document = {
      openapi: "3.0.0",
      servers: [{ url: "https://big.example" }],
      paths: { "/x": { get: { parameters } } },
    };
    writeFileSync(join(home, "big.json"), JSON.stringify(document));
    const done = await hermes(["tools", "import", "openapi", join(home, "big.json"), "--json"], { home });
    expect([done.code, errorLine(done)]).toMatchObject([
      2,
      { message: expect.stringContaining("8 MiB"), hint: expect.stringContaining("--include") },
    ]);
  });

  it("goes through the URL guard", async () => {
    const { home } = place();
    writeFileSync(join(home, "config.yaml"), "");
    const blocked = await hermes(["tools", "import", "openapi", `${address}/openapi.json`, "--json"], {
      home,
    });
    expect([blocked.code, errorLine(blocked).code]).toEqual([5, "blocked"]);
  });

  it("imports the API of `hermes serve` itself", async () => {
    const { home } = place();
    const serve = start(["serve", "--port", "0", "--json"], { home });
    const url = await new Promise<string>((resolve, reject) => {
      let text = "";
      serve.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        const found = /"url":"(http:\/\/[^"/]+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
      serve.once("exit", () => reject(new Error(`the server ended: ${text}`)));
    });
    const token = readFileSync(join(home, "server.token"), "utf8").trim();
    const env = { HERMES_TOKEN: token };
    const document = join(home, "openapi.json");
    const got = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
    writeFileSync(document, await got.text());
    const done = await hermesJson<{ tools: { name: string }[] }>(
      [
        "tools",
        "import",
        "openapi",
        document,
        "--base-url",
        url,
        "--prefix",
        "hermes",
        "--auth",
        "bearer:HERMES_TOKEN",
      ],
      { home, env },
    );
    expect(done.tools.map(({ name }) => name)).toContain("hermes_get_healthz");
    expect(await hermesJson(["call", "hermes_get_healthz"], { home, env })).toMatchObject({
      structured: { ok: true },
    });
    serve.kill();
  });
});

describe("while a server runs", () => {
  it("what a person registers at a terminal needs no second yes; what a script registers waits for one", async ({
    skip,
  }) => {
    needsTerminal(skip);
    const { home, file } = place();
    const serving = start(["serve", "--port", "0"], { home });
    let said = "";
    for (const stream of [serving.stdout, serving.stderr])
      stream?.on("data", (chunk) => {
        said += String(chunk);
      });
    await until(() => said.includes("Ctrl-C"), "the server is up");
    const typed = [process.execPath, main, "tool", "register", "--config", file, "--name", "typed"];
    expect((await onTerminal(typed, { home, type: [] })).code).toBe(0);
    await until(() => said.includes("typed.yaml: 1 added"), "the tool is taken up");
    expect(await hermesJson(["changes"], { home })).toEqual({ waiting: [] });
    const other = join(home, "other.yaml");
    writeFileSync(other, WEATHER(address).replace("weather_now", "weather_then"));
    expect((await hermes(["tool", "register", "--config", other], { home })).code).toBe(0);
    await until(
      async () => JSON.stringify(await hermesJson(["changes"], { home })).includes("other.yaml"),
      "the other one waits",
    );
    expect(said).not.toContain("other.yaml: 1 added");
  }, 60_000);
});
