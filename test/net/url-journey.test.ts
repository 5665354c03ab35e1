import { describe, expect, test } from "vitest";
import { judgeJourney } from "../../src/net/url-journey.js";
import { judgeUrl } from "../../src/net/urls.js";

const PUBLIC = "93.184.215.14";
const CLOSED = { allowPrivate: false };
const verdictOf = async (line: unknown, rules = CLOSED) => (await judgeJourney(line, rules)).verdict;

describe("a journey over redirects", () => {
  const dns = [PUBLIC];
  test.each([
    [{ url: "https://example.com/", dns }, "allow"],
    [{ url: "https://example.com/", dns, redirects: ["/next", "https://other.example/"] }, "allow"],
    [{ url: "https://example.com/", dns, redirects: ["http://169.254.169.254/"] }, "block"],
    [{ url: "https://example.com/", dns, redirects: ["//127.0.0.1/x"] }, "block"],
    [{ url: "https://example.com/", dns, redirects: ["file:///etc/passwd"] }, "block"],
    [
      { url: "https://example.com/", dns, redirects: [{ status: 302, location: "http://10.0.0.1/" }] },
      "block",
    ],
    [{ url: "https://example.com/", dns, redirects: Array.from({ length: 11 }, () => "/again") }, "block"],
    [{ url: "https://example.com/", dns: [[PUBLIC], ["127.0.0.1"]], redirects: ["/next"] }, "block"],
    [{ url: "https://example.com/", dns: [[PUBLIC], ["127.0.0.1"]] }, "allow"],
    [{ url: "https://example.com/", dns: [] }, "block"],
    [{ url: 7 }, "block"],
    ["https://example.com/", "block"],
    [null, "block"],
  ])("%j → %s", async (line, expected) => {
    expect(await verdictOf(line)).toBe(expected);
  });
});

describe("the operator's lists", () => {
  const judge = async (url: string, rules: object, address = PUBLIC) =>
    (await judgeUrl(url, { ...CLOSED, ...rules, resolve: async () => [address] })).verdict;

  test("allowed_hosts opens private addresses for the named hosts only", async () => {
    const rules = { privateHosts: ["build.lan", "localhost", "10.0.0.5"] };
    expect(await judge("http://build.lan/", rules, "10.1.1.1")).toBe("allow");
    expect(await judge("http://localhost:8080/", rules, "127.0.0.1")).toBe("allow");
    expect(await judge("http://10.0.0.5/", rules)).toBe("allow");
    expect(await judge("http://10.0.0.6/", rules)).toBe("block");
    expect(await judge("http://other.lan/", rules, "10.1.1.1")).toBe("block");
    expect(await judge("http://build.lan/", rules, "169.254.169.254")).toBe("block");
  });

  test("url_allowlist closes everything else", async () => {
    const rules = { onlyHosts: ["example.com", "*.docs.example"] };
    expect(await judge("https://api.example.com/", rules)).toBe("allow");
    expect(await judge("https://a.docs.example/", rules)).toBe("allow");
    expect(await judge("https://badexample.com/", rules)).toBe("block");
    expect(await judge("https://example.com.evil.example/", rules)).toBe("block");
  });

  test("the blocklist wins over both", async () => {
    const rules = {
      onlyHosts: ["example.com"],
      privateHosts: ["example.com"],
      blockedHosts: ["example.com"],
    };
    expect(await judge("https://example.com/", rules)).toBe("block");
  });
});
