import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool } from "../../src/index.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

/** Declares one address and fetches another. */
const fetcher = defineTool({
  name: "fetcher",
  toolset: "test",
  description: "fetches",
  parameters: {
    type: "object",
    properties: { url: { type: "string" }, instead: { type: "string" }, method: { type: "string" } },
    required: ["url"],
  },
  permissions: ["network:fetch", "network:write"],
  effects: ({ url }) => [{ action: "network:fetch", resource: url, mode: "read" }],
  async handler({ url, instead, method }, ctx) {
    const { fetch } = ctx;
    const response = await fetch({ url: instead ?? url, method });
    return { status: response.status, text: await response.text() };
  },
});

async function serve(): Promise<string> {
  const server = createServer((request, response) => {
    const target = /^\/to\?(.*)$/.exec(request.url ?? "")?.[1];
    if (target !== undefined) response.writeHead(302, { location: decodeURIComponent(target) });
    response.end(`${request.method} ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function call(args: Record<string, unknown>, config = "security: { allow_private_urls: true }\n") {
  const home = tempDir();
  writeFileSync(join(home, "config.yaml"), config);
  const { runtime } = await testRuntime([fetcher], { home });
  const session = await runtime.openSession();
  return session.call({ name: "fetcher", arguments: args });
}

test("a tool reaches what it declared, with the rules of the operator", async () => {
  const server = await serve();
  const open = await call({ url: `${server}/a?b=1` });
  expect(open.structured).toEqual({ status: 200, text: "GET /a?b=1" });
  const closed = await call({ url: `${server}/a` }, "security: { allow_private_urls: false }\n");
  expect(closed).toMatchObject({ ok: false, error: { code: "denied" } });
});

test("an address nobody judged before the call ran is judged when it is fetched, and so is a redirect", async () => {
  const server = await serve();
  const closed = "security: { allow_private_urls: true, website_blocklist: [elsewhere.example] }\n";
  const undeclared = await call({ url: server, instead: "http://elsewhere.example/" }, closed);
  expect(undeclared).toMatchObject({ ok: false, error: { code: "denied" } });
  const redirected = await call(
    { url: `${server}/to?${encodeURIComponent("http://elsewhere.example/")}` },
    closed,
  );
  expect(redirected).toMatchObject({ ok: false, error: { code: "blocked" } });
});

test("a method that changes something needs the permission for that", async () => {
  const server = await serve();
  const home = tempDir();
  writeFileSync(
    join(home, "config.yaml"),
    "security: { allow_private_urls: true }\npermissions: { profile: reader }\n",
  );
  writeFileSync(join(home, "hermes_permissions.yaml"), "profiles:\n  reader:\n    allow: [network:fetch]\n");
  const { runtime } = await testRuntime([fetcher], { home });
  const session = await runtime.openSession();
  const read = await session.call({
    name: "fetcher",
    arguments: { url: server, instead: `${server}/other` },
  });
  expect(read.structured).toMatchObject({ text: "GET /other" });
  for (const instead of [`${server}/other`, server]) {
    const write = await session.call({
      name: "fetcher",
      arguments: { url: server, instead, method: "POST" },
    });
    expect(write).toMatchObject({ ok: false, error: { code: "denied" } });
  }
});
