import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { judgeUrl } from "../../src/net/urls.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";

const resolve = async () => ["93.184.216.34"];
const verdictOf = async (url: string, blockedHosts: readonly string[]) =>
  (await judgeUrl(url, { allowPrivate: false, blockedHosts, resolve })).verdict;

describe("a host the operator has closed stays closed", () => {
  it.each<[string, string, boolean]>([
    ["example.com", "https://example.com/x", true],
    ["example.com", "https://EXAMPLE.com./x", true],
    ["example.com", "https://a.b.example.com/x", true],
    ["example.com", "https://notexample.com/x", false],
    ["example.com", "https://example.com.evil.net/x", false],
    ["*.example.com", "https://a.example.com/x", true],
    ["*.example.com", "https://example.com/x", false],
    ["ads.*", "https://ads.net/x", true],
    ["*", "https://anything.net/x", true],
    ["HTTPS://Example.COM/path", "https://example.com/", true],
    ["bücher.example", "https://xn--bcher-kva.example/", true],
    ["bücher.example", "https://BÜCHER.example/", true],
    ["93.184.216.34", "https://93.184.216.34/", true],
    ["93.184.216.34", "https://0x5db8d822/", true],
    ["exa.mple.com", "https://exaXmple.com/", false],
    ["", "https://example.com/", false],
    ["(((((", "https://example.com/", false],
  ])("%s against %s", async (pattern, url, closed) => {
    expect(await verdictOf(url, [pattern])).toBe(closed ? "block" : "allow");
  });

  it("through the tool, at once and behind a redirect", async () => {
    let reached = 0;
    const server = createServer((request, response) => {
      if (request.url === "/away") {
        const { port } = server.address() as AddressInfo;
        response.writeHead(302, { location: `http://localhost:${port}/inside` }).end();
        return;
      }
      reached += 1;
      response.end("inside");
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestEnd(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { runtime } = await testRuntime([], {
      builtins: true,
      flags: { "security.allow_private_urls": true, "security.website_blocklist": ["localhost"] },
    });
    const session = await runtime.openSession();
    const get = (url: string) => session.call({ name: "http_request", arguments: { url } });
    for (const url of [`http://localhost:${port}/inside`, `http://127.0.0.1:${port}/away`]) {
      const result = await get(url);
      expect([url, result.error?.code]).toEqual([url, expect.stringMatching(/^(?:denied|blocked)$/)]);
      expect(result.error?.message).toContain("website_blocklist");
    }
    expect(reached).toBe(0);
    expect((await get(`http://127.0.0.1:${port}/inside`)).ok).toBe(true);
  });
});
