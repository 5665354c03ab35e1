import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linksOfMarkdown, linksOfPage } from "../../../src/tools/network/links/find-links.js";
import { testRuntime } from "../../support/runtime.js";
import { startSite } from "./site.js";

async function checker(options: { readonly flags?: Record<string, unknown> } = {}) {
  const { runtime, cwd } = await testRuntime([], {
    builtins: true,
    flags: { "security.allowed_hosts": ["127.0.0.1"], ...options.flags },
  });
  const session = await runtime.openSession();
  return {
    cwd,
    check: (args: Record<string, unknown>, signal?: AbortSignal) =>
      session.call({ name: "link_checker", arguments: args }, { signal }),
  };
}

describe("a site", () => {
  it("is followed below its address, each link asked for once, broken ones told with their page", async () => {
    const site = await startSite({
      "/docs/":
        '<a href="a">a</a> <a href="b#part">b</a> <a href="mailto:x@y">m</a> <a href="/outside">o</a>',
      "/docs/a": '<a href="b">b</a> <img src="gone.png">',
      "/docs/b": '<a href="a">a</a>',
      "/outside": '<a href="/never">not followed</a>',
    });
    const { check } = await checker();
    const { structured } = await check({ url: `${site.base}/docs/`, recurse: true });
    expect(structured).toMatchObject({
      passed: false,
      checked: 5,
      broken: [{ url: `${site.base}/docs/gone.png`, status: 404, parent: `${site.base}/docs/a` }],
    });
    expect(site.seen.filter((line) => line === "GET /docs/b")).toHaveLength(1);
    expect(site.seen.some((line) => line.includes("never"))).toBe(false);
  });

  it("a page alone is not followed further", async () => {
    const site = await startSite({ "/": '<a href="/a">a</a>', "/a": '<a href="/b">b</a>' });
    const { check } = await checker();
    expect((await check({ url: `${site.base}/` })).structured).toMatchObject({ passed: true, checked: 2 });
  });

  it("servers that do not know HEAD are asked with GET; redirects count as where they lead", async () => {
    const site = await startSite({
      "/no-head": (request, response) => {
        response.writeHead(request.method === "HEAD" ? 405 : 200).end();
      },
      "/moved": (_request, response) => void response.writeHead(301, { location: "/gone" }).end(),
    });
    const { check } = await checker();
    const urls = [`${site.base}/no-head`, `${site.base}/moved`];
    expect((await check({ urls })).structured).toMatchObject({
      checked: 2,
      broken: [{ url: `${site.base}/moved`, status: 404 }],
    });
  });

  it("what the URL policy closes is not asked, and more links than wanted are counted", async () => {
    const site = await startSite({
      "/": '<a href="http://169.254.169.254/latest">m</a><a href="/1">1</a><a href="/2">2</a>',
    });
    const { check } = await checker();
    expect((await check({ url: `${site.base}/`, max_links: 2 })).structured).toMatchObject({
      left_out: 2,
      broken: [{ status: 0, reason: expect.stringContaining("not asked") }],
    });
  });

  it("a cancelled check stops asking", async () => {
    const pages = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`/${index}`, "x"]));
    const site = await startSite({
      "/": Object.keys(pages)
        .map((path) => `<a href="${path}">x</a>`)
        .join(""),
      ...Object.fromEntries(Object.keys(pages).map((path) => [path, () => undefined])),
    });
    const stop = new AbortController();
    const { check } = await checker();
    const running = check({ url: `${site.base}/`, concurrency: 2, timeout_seconds: 60 }, stop.signal);
    await expect.poll(() => site.seen.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    stop.abort();
    expect((await running).error?.code).toBe("cancelled");
    expect(site.seen.length).toBeLessThan(10);
  });
});

describe("Markdown", () => {
  it("files and folders: links to files are looked at, links to the web are asked", async () => {
    const site = await startSite({ "/ok": "fine" });
    const { check, cwd } = await checker();
    mkdirSync(join(cwd, "docs/sub"), { recursive: true });
    writeFileSync(
      join(cwd, "docs/a.md"),
      `[b](sub/b.md#part) [root](/sub/b.md) [web](${site.base}/ok) [gone](nope.md) [web gone](${site.base}/gone)
\`[code](not-a-link.md)\`
\`\`\`
[fenced](not-a-link-either.md)
\`\`\``,
    );
    writeFileSync(join(cwd, "docs/sub/b.md"), "[up](../a.md)\n\n[ref]: ../missing.md");
    expect((await check({ path: "docs" })).structured).toMatchObject({
      checked: 7,
      broken: [
        { url: "nope.md", parent: join(cwd, "docs/a.md") },
        { url: "../missing.md", parent: join(cwd, "docs/sub/b.md") },
        { url: `${site.base}/gone`, status: 404 },
      ],
    });
  });

  it("exactly one source is named", async () => {
    const { check } = await checker();
    expect((await check({})).error).toMatchObject({ code: "invalid_arguments" });
    expect((await check({ path: "nowhere" })).error).toMatchObject({ code: "not_found" });
  });
});

it("links of a page are whole, without fragments, relative to its base", () => {
  const html =
    '<base href="/x/"><a href="y#z">y</a><link rel="preconnect" href="https://cdn"><a href="javascript:x()">';
  expect(linksOfPage(html, "https://example.org/a/")).toEqual(["https://example.org/x/y"]);
  expect(linksOfMarkdown('[a](b_(c).md) ![p](<d e.png> "t") <https://f.g>')).toContain("b_(c).md");
});
