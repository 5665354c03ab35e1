import { EventEmitter } from "node:events";
import type { BrowserContext } from "playwright-core";
import { describe, expect, it } from "vitest";
import { webAddress } from "../../../src/tools/browser/address.js";
import { refusedCommand } from "../../../src/tools/browser/cdp-rules.js";
import { changesBetween } from "../../../src/tools/browser/changes.js";
import { fitLines, tokensOf } from "../../../src/tools/browser/fit-lines.js";
import type { SnapshotLine } from "../../../src/tools/browser/snapshot.js";
import { Trouble } from "../../../src/tools/browser/trouble.js";

const words = (text: string): SnapshotLine => ({ depth: 0, text, role: "text", usable: false, kept: false });
const link = (n: number): SnapshotLine => ({
  depth: 1,
  text: `link "Entry ${n}" [ref=e${n}]`,
  role: "link",
  ref: `e${n}`,
  usable: true,
  kept: true,
});

describe("lines of a page", () => {
  it("that fit are all there", () => {
    expect(fitLines([words("Hello"), link(3)], 100)).toEqual({
      text: '- Hello\n - link "Entry 3" [ref=e3]',
      truncated: false,
    });
  });

  it("lose text before what can be used", () => {
    const lines = [...Array.from({ length: 400 }, (_, n) => words(`some words of line ${n}`)), link(7)];
    const { text, truncated } = fitLines(lines, 500);
    expect(truncated).toBe(true);
    expect(text).toContain("some words of line 0");
    expect(text).toMatch(/\(\d+ lines of text left out\)/);
    expect(text).toContain("[ref=e7]");
    expect(tokensOf(text)).toBeLessThanOrEqual(520);
  });

  it("fold long rows of like things into their ends and a range, and fit whatever they are", () => {
    const { text } = fitLines(
      Array.from({ length: 5_000 }, (_, n) => link(n)),
      1_000,
    );
    expect(text).toContain("[ref=e0]");
    expect(text).toContain("[ref=e4999]");
    expect(text).toMatch(/\(\d+ more of link, refs e\d+ to e\d+\)/);
    const mixed = Array.from({ length: 5_000 }, (_, n) => ({
      ...link(n),
      role: n % 2 === 0 ? "link" : "button",
    }));
    expect(tokensOf(fitLines(mixed, 1_000).text)).toBeLessThanOrEqual(1_000);
  });

  it("differ by what is new and what is gone, repeated lines by their number", () => {
    expect(changesBetween([words("a"), words("b"), words("b")], [words("a"), words("b"), words("c")])).toBe(
      "+ c\n- b",
    );
    expect(changesBetween([words("a")], [words("a")])).toBe("(nothing visible changed)");
  });
});

it("addresses are taken as people type them", () => {
  expect(
    ["example.com/a", "localhost:80/x", "http://a.test", "file:///etc", " about:blank "].map(webAddress),
  ).toEqual([
    "https://example.com/a",
    "https://localhost:80/x",
    "http://a.test",
    "file:///etc",
    "about:blank",
  ]);
});

it("commands of the protocol are about the page", () => {
  const ctx = { refusal: () => undefined };
  expect(refusedCommand("Runtime.evaluate", { expression: "1" }, ctx)).toBeUndefined();
  expect(refusedCommand("Page.navigate", { url: "https://a.test/" }, ctx)).toBeUndefined();
  for (const [method, params] of [
    ["Browser.close", {}],
    ["Target.createTarget", { url: "https://a.test/" }],
    ["Page.navigate", { url: "file:///etc/passwd" }],
    ["Page.setDownloadBehavior", {}],
    ["constructor", {}],
  ] as const)
    expect([method, refusedCommand(method, params, ctx) === undefined]).toEqual([method, false]);
  expect(refusedCommand("Page.navigate", { url: "https://a.test/" }, { refusal: () => "closed" })).toBe(
    "closed",
  );
});

it("trouble of the browser's own is not told as the page's; what a page asked for is", () => {
  const trouble = new Trouble();
  const context = new EventEmitter() as unknown as BrowserContext & EventEmitter;
  context.pages = () => [];
  trouble.listen(context);
  const add = (host: string) => trouble.add({ host, port: 443, blocked: false, reason: "no answer" });
  const hosts = () => trouble.take().map(({ host }) => host);
  add("accounts.google.com");
  add("shop.test");
  add("shop.test");
  expect(hosts()).toEqual(["shop.test"]);
  context.emit("request", { url: () => "https://accounts.google.com/sign-in" });
  add("accounts.google.com");
  expect(hosts()).toEqual(["accounts.google.com"]);
  expect(hosts()).toEqual([]);
});
