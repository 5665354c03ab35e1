import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeAddress } from "../../src/net/addresses.js";
import { judgeUrl } from "../../src/net/urls.js";

interface Row {
  readonly id: string;
  readonly url: string;
  readonly expect: string;
  readonly accept?: readonly string[];
  readonly dns?: readonly string[];
  readonly redirects?: readonly string[];
}

const rows = readFileSync(new URL("../fixtures/urls/urls.dev.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

const PUBLIC = "93.184.215.14";
const answers = (...addresses: string[]) => ({ allowPrivate: false, resolve: async () => addresses });
const verdict = async (url: string, addresses: readonly string[] = [PUBLIC], allowPrivate = false) =>
  (await judgeUrl(url, { allowPrivate, resolve: async () => addresses })).verdict;

test.each(rows)("sample $id: $url", async (row) => {
  const resolve = async () => {
    if (row.dns === undefined) throw new Error("no such name");
    return row.dns;
  };
  const verdicts = await Promise.all(
    [row.url, ...(row.redirects ?? [])].map((url) => judgeUrl(url, { allowPrivate: false, resolve })),
  );
  const overall = verdicts.every((one) => one.verdict === "allow") ? "allow" : "block";
  expect(row.accept ?? [row.expect]).toContain(overall);
});

describe("blocked", () => {
  test.each([
    "http://0/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:ffff:7f00:0001]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2001:db8::1]/",
    "http://[2001::7f00:1]/",
    "http://[100::1]/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://224.0.0.1/",
    "http://[fe80::1%25eth0]/",
    "http://localhost./",
    "http://a.b.localhost/",
    "http://LOCALHOST/",
    "http://user@example.com/",
    "http://:pw@example.com/",
    "http://@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http:/127.0.0.1/",
    "http:127.0.0.1",
    "//127.0.0.1/",
    "http://exa\nmple.com/",
    "http://exa\0mple.com/",
    "http://",
    "http:///",
    "http://example.com:22/",
    "http://example.com:0/",
    "http://example.com:99999/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
    "gopher://example.com/",
    "unix:/var/run/docker.sock",
    "",
    "example.com",
    `http://${"a".repeat(300)}.com/`,
  ])("%j", async (url) => {
    expect(await verdict(url)).toBe("block");
  });

  test("a name that does not resolve, or resolves to nothing or to no address", async () => {
    expect((await judgeUrl("http://example.com", answers())).verdict).toBe("block");
    expect((await judgeUrl("http://example.com", answers("banana"))).verdict).toBe("block");
    const failing = { allowPrivate: false, resolve: () => Promise.reject(new Error("SERVFAIL")) };
    expect((await judgeUrl("http://example.com", failing)).verdict).toBe("block");
  });

  test("a name with one forbidden address among public ones", async () => {
    for (const address of ["::1", "10.0.0.1", "fe80::1%eth0", "::ffff:169.254.169.254", "0.0.0.0"]) {
      expect(await verdict("http://example.com/", [PUBLIC, address])).toBe("block");
    }
  });

  test("never names a password in the reason", async () => {
    const judged = await judgeUrl("http://user:hunter2@example.com/", answers(PUBLIC));
    expect(JSON.stringify(judged)).not.toContain("hunter2");
  });
});

describe("allowed", () => {
  test.each([
    "http://example.com/",
    "https://example.com:8443/a?b=c#d",
    "HTTPS://EXAMPLE.COM",
    "  https://example.com/trimmed \n",
    "http://93.184.215.14:8080/",
    "http://[2606:2800:220:1:248:1893:25c8:1946]/",
    "https://example.com/?u=http://user:pw@127.0.0.1/",
    "https://example.com/a@b",
    "https://example.com./",
    "https://bücher.example/ü?ü=1",
    "http://[64:ff9b::5db8:d70e]/",
  ])("%j", async (url) => {
    expect(await verdict(url)).toBe("allow");
  });

  test("gives exactly the addresses that may be dialled", async () => {
    const judged = await judgeUrl("https://example.com/", answers(PUBLIC, "2606:2800:220:1::1"));
    expect(judged).toMatchObject({ verdict: "allow", addresses: [PUBLIC, "2606:2800:220:1::1"] });
  });
});

describe("with private networks opened", () => {
  test("this machine and private networks are reached", async () => {
    for (const url of ["http://127.0.0.1:8080/", "http://10.1.2.3/", "http://[fd12::1]/", "http://[::1]/"]) {
      expect(await verdict(url, [], true)).toBe("allow");
    }
    expect(await verdict("http://localhost:3000/", ["127.0.0.1", "::1"], true)).toBe("allow");
  });

  test("cloud metadata stays closed in every spelling", async () => {
    for (const url of [
      "http://169.254.169.254/",
      "http://2852039166/",
      "http://[::ffff:169.254.169.254]/",
      "http://100.100.100.200/",
      "http://[fd00:ec2::254]/",
      "http://168.63.129.16/",
      "http://metadata.google.internal/",
      "http://metadata.google.internal./",
      "http://METADATA.goog/",
    ]) {
      expect(await verdict(url, [PUBLIC], true), url).toBe("block");
    }
    expect(await verdict("http://example.com/", ["169.254.170.2"], true)).toBe("block");
  });
});

test("every spelling of a private IPv4 address gets the same answer as its plain one", async () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const privateAddress = fc.oneof(
    fc.tuple(fc.constant(127), octet, octet, octet),
    fc.tuple(fc.constant(10), octet, octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  );
  await fc.assert(
    fc.asyncProperty(privateAddress, async ([a, b, c, d]) => {
      const number = ((a * 256 + b) * 256 + c) * 256 + d;
      const spellings = [
        `${a}.${b}.${c}.${d}`,
        `${number}`,
        `0x${number.toString(16)}`,
        `0${number.toString(8)}`,
        `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`,
        `[::ffff:${a}.${b}.${c}.${d}]`,
        `[64:ff9b::${a}.${b}.${c}.${d}]`,
      ];
      for (const host of spellings) expect(await verdict(`http://${host}/`), host).toBe("block");
    }),
  );
});

test("text that is no address is never taken for a public one", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      if (judgeAddress(text) === undefined) expect(text).toMatch(/^[\d.]+$|:/);
    }),
  );
});
