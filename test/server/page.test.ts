import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownCommand } from "../../src/base/own-command.js";
import { visibleLines } from "../../src/base/visible-text.js";
import type { JournalRow } from "../../src/index.js";
import type { ToolListing } from "../../src/runtime/definitions.js";
import { escapeHtml } from "../../src/server/html.js";
import { pageHtml } from "../../src/server/page.js";
import { PAGE_SCRIPT } from "../../src/server/page-files.gen.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { startServer, TOKEN, until } from "./support.js";
import { echo } from "./tools.js";
import { PAYLOADS } from "./xss-payloads.js";

function listing(text: string, more: Partial<ToolListing> = {}): ToolListing {
  return {
    name: text,
    aliases: [],
    toolset: text,
    description: text,
    emoji: text,
    permissions: [],
    provenance: { kind: "code" },
    enabled: true,
    because: text,
    available: false,
    reason: text,
    fix: text,
    requires_env: [],
    deferrable: false,
    ...more,
  };
}

function row(text: string): JournalRow {
  return {
    seq: 1,
    call_id: text,
    session_id: text,
    tool: text,
    called_as: text,
    door: text,
    args: text,
    effects: text,
    decision: text,
    rule: text,
    environment: text,
    started_at: 0,
    status: "error",
    duration_ms: 1500,
    error_message: text,
    owner: text,
  };
}

const page = (text: string) =>
  pageHtml({ tools: [listing(text), listing(text, { enabled: false })], calls: [row(text)], journal: true });
const tagsOf = (markup: string) => markup.match(/<[^>]*>/g);

describe("hostile text on the page", () => {
  it("stays text: it never changes the markup around it", () => {
    const harmless = tagsOf(page("x"));
    for (const payload of PAYLOADS) expect(tagsOf(page(payload)), payload).toEqual(harmless);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(tagsOf(page(text))).toEqual(harmless);
      }),
    );
  });

  it("cannot leave an attribute, end a comment or hide what stands beside it", () => {
    expect(escapeHtml(`"'\`<>&`)).toBe("&quot;&#39;&#96;&lt;&gt;&amp;");
    expect(visibleLines("safe\u202Egnp.exe\u0000\u200b")).toBe("safe\\u{202e}gnp.exe\\u{0}\\u{200b}");
  });

  it("is only ever set as text by the script", () => {
    expect(PAGE_SCRIPT).not.toMatch(
      /innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|srcdoc|\.on[a-z]+ ?=/,
    );
    expect(() => new Function(PAGE_SCRIPT)).not.toThrow();
  });

  it("comes through every door of the API as JSON that no browser takes for a page", async () => {
    const { ask, calls } = await startServer([echo], { runtime: { journal: true } });
    for (const payload of PAYLOADS.slice(0, 10)) {
      await calls({
        tool_calls: [{ id: payload, function: { name: payload, arguments: { text: payload } } }],
      });
      await calls({ tool_calls: [{ id: "e", function: { name: "echo", arguments: { text: payload } } }] });
    }
    for (const path of [
      "/v1/calls",
      "/v1/stats",
      "/v1/tools?detail=1",
      `/v1/tools?format=${encodeURIComponent("<script>")}`,
    ]) {
      const answer = await ask(path);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
    const shown = await (await ask("/")).text();
    expect(shown).not.toMatch(/<img|<svg|<iframe|<script>|onerror=["']?alert/i);
    expect(shown).toContain("&lt;");
  });

  it("in the address is not repeated by an error page", async () => {
    const { ask } = await startServer();
    for (const payload of PAYLOADS) {
      const answer = await ask(`/${encodeURIComponent(payload)}`, { headers: { accept: "text/html" } });
      expect(answer.status).toBe(404);
      expect(tagsOf(await answer.text())).toEqual(
        tagsOf(await (await ask("/nothing", { headers: { accept: "text/html" } })).text()),
      );
    }
  });
});

describe("the page", () => {
  it("shows tools with their state, and what to do about it", async () => {
    const missing: AnyTool = {
      ...echo,
      name: "needs_key",
      checkFn: () => ({ ok: false, reason: "no key for the oracle", fix: "set ORACLE_KEY" }),
    };
    const { ask } = await startServer([echo, missing]);
    const text = await (await ask("/")).text();
    expect(text).toContain("1 tool ready, 1 need set-up.");
    expect(text).toContain("no key for the oracle");
    expect(text).toContain("<code>set ORACLE_KEY</code>");
    expect(text).toContain("Gives back its text.");
  });

  it("shows the last calls", async () => {
    const { ask, calls } = await startServer([echo], { runtime: { journal: true } });
    await calls({ tool_calls: [{ id: "1", function: { name: "echo", arguments: { text: "hi" } } }] });
    const text = await (await ask("/")).text();
    expect(text).toMatch(
      /<th role="rowheader" scope="row">echo<\/th>\s*<td role="cell" class="good">ok<\/td>/,
    );
    expect(text).toContain('<td role="cell">http</td>');
  });

  it("says what to type when there is nothing to show", async () => {
    const { ask } = await startServer([], { runtime: { journal: true } });
    const text = await (await ask("/")).text();
    expect(text).toContain(`<code>${ownCommand()} call system_info</code>`);
    expect(text).toContain(`<code>${ownCommand()} doctor</code>`);
    const unrecorded = await startServer([]);
    expect(await (await unrecorded.ask("/")).text()).toContain(
      "hermes-tools config set journal.enabled true",
    );
  });

  it("asks a browser without the token for it, without naming anything", async () => {
    const { server } = await startServer([echo]);
    const answer = await fetch(server.url, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(answer.status).toBe(401);
    const text = await answer.text();
    expect(text).toContain('<input name="token" type="password"');
    expect(text).not.toContain("echo");
  });

  it("needs nothing from elsewhere and nothing inline", () => {
    const text = page("x");
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).not.toMatch(/<style|style=|<script>| on[a-z]+=/);
  });

  it("stays small however many tools there are", () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => listing(`tool_${index}`));
    const text = pageHtml({ tools, calls: [], journal: true });
    expect(text).toContain("9000 more");
    expect(text.length).toBeLessThan(1_000_000);
  });
});

const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const browser =
  process.env.HERMES_TEST_CHROMIUM ??
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => BROWSERS.map((name) => join(folder, name)))
    .find(existsSync);

describe("in a browser", () => {
  it("no payload runs, the page updates live, and it fits 400 px", { timeout: 120_000 }, async ({ skip }) => {
    if (browser === undefined) {
      return skip("needs Chromium: apt-get install chromium, or set HERMES_TEST_CHROMIUM");
    }
    const hostile: AnyTool[] = PAYLOADS.map((payload, index) => ({
      ...echo,
      name: `tool_${index}`,
      description: payload,
      ...(index % 2 === 0 && { checkFn: () => ({ ok: false as const, reason: payload, fix: payload }) }),
    }));
    const home = tempDir();
    mkdirSync(join(home, "tools"));
    writeFileSync(
      join(home, "tools", "broken.yaml"),
      `tools: [{ name: "${PAYLOADS[0]?.replaceAll('"', "'")}" }]`,
    );
    const { server, calls } = await startServer([echo, ...hostile], {
      runtime: { journal: true, userTools: true, home },
    });
    const { chromium } = await import("playwright-core");
    const opened = await chromium.launch({ executablePath: browser, args: ["--no-sandbox"] });
    onTestEnd(() => opened.close());
    const tab = await opened.newPage({ viewport: { width: 400, height: 800 } });
    const problems: string[] = [];
    tab.on("dialog", (dialog) => {
      problems.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    tab.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    tab.on("pageerror", (error) => problems.push(error.message));
    tab.on("request", (request) => {
      if (!request.url().startsWith(server.url)) problems.push(`asked ${request.url()}`);
    });
    await tab.goto(`${server.url}?token=${TOKEN}`);
    expect(tab.url()).toBe(server.url);
    await until(async () => (await tab.locator("#connection").textContent()) === "Live");
    for (const payload of PAYLOADS) {
      await calls({
        tool_calls: [{ id: payload, function: { name: payload, arguments: { text: payload } } }],
      });
    }
    await calls({ tool_calls: [{ id: "last", function: { name: "echo", arguments: { text: "last" } } }] });
    await until(async () => (await tab.locator("#calls tbody th").first().textContent()) === "echo");
    await until(async () => (await tab.locator("#sources tbody td").first().textContent()) === "failed");
    expect(await tab.locator("#sources").textContent()).toContain("hermes tools check");
    expect(await tab.evaluate("window.attacked")).toBeUndefined();
    const width = await tab.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(400);
    expect(problems).toEqual([]);
    await tab.emulateMedia({ colorScheme: "dark" });
    const dark = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
    await tab.emulateMedia({ colorScheme: "light" });
    expect(await tab.evaluate("getComputedStyle(document.body).backgroundColor")).not.toBe(dark);
    if (process.env.HERMES_TEST_SCREENSHOT !== undefined) {
      await tab.screenshot({ path: process.env.HERMES_TEST_SCREENSHOT, fullPage: false });
    }
  });
});
