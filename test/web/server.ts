import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll } from "vitest";
import type { AnyTool } from "../../src/tool/tool.js";
import { startServer, type TestServer, TOKEN } from "../server/support.js";
import { onTestEnd } from "../support/runtime.js";

export interface Dashboard extends TestServer {
  readonly tab: Page;
  /** What the browser complained about: policy violations, errors in scripts, dialogs. */
  readonly problems: string[];
  /** Another tab of the same browser. */
  openTab(path: string): Promise<Page>;
  /** Goes to a page and waits until it is no longer loading. */
  show(path: string): Promise<void>;
}

let browser: Promise<Browser> | undefined;
afterAll(async () => {
  await (await browser)?.close();
  browser = undefined;
});

function chrome(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: process.env.HERMES_TEST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  return browser;
}

/** A real server on a home of its own, and a browser in front of it that was let in. */
export async function openDashboard(
  options: {
    readonly path?: string;
    readonly width?: number;
    readonly height?: number;
    readonly theme?: "light" | "dark";
    readonly tools?: readonly AnyTool[];
    readonly runtime?: Parameters<typeof startServer>[1] extends infer Given
      ? Given extends { readonly runtime?: infer Runtime }
        ? Runtime
        : never
      : never;
  } = {},
): Promise<Dashboard> {
  const made = await startServer(options.tools ?? [], {
    runtime: {
      builtins: true,
      journal: true,
      ...options.runtime,
      flags: { "approvals.unattended_mode": "queue", ...options.runtime?.flags },
    },
  });
  const context = await (await chrome()).newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.theme ?? "light",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  onTestEnd(() => context.close());
  const problems: string[] = [];
  const openTab = async (path: string) => {
    const tab = await context.newPage();
    tab.on("dialog", (dialog) => {
      problems.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    tab.on("console", (message) => {
      if (message.type() === "error") problems.push(`${message.text()} ${message.location().url}`);
    });
    tab.on("pageerror", (error) => problems.push(error.message));
    await go(tab, new URL(path, made.server.url).href);
    return tab;
  };
  const tab = await openTab(`/?token=${TOKEN}`);
  const show = (path: string) => go(tab, new URL(path, made.server.url).href);
  if (options.path !== undefined) await show(options.path);
  return { ...made, tab, problems, openTab, show };
}

async function go(tab: Page, address: string): Promise<void> {
  await tab.goto(address);
  await tab.locator("main:not([data-state=loading])").waitFor();
}

/** Calls of several kinds, made through the path: done, failed, denied, timed out, asked about, with calls inside. */
export async function makeCalls({ runtime, cwd }: Pick<TestServer, "runtime" | "cwd">): Promise<void> {
  writeFileSync(join(cwd, "notes.md"), "# Notes\nMerge the settings before Friday.\n");
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  const call = (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
    session.call({ name, arguments: args }, { signal });
  await call("write_file", {
    path: "src/merge.ts",
    content: "export const merge = (a: object, b: object) => ({ ...a, ...b });\n",
  });
  await call("read_file", { path: "notes.md" });
  await call("search_files", { pattern: "merge", path: "." });
  await call("read_file", { path: "docs/migrate.md" });
  await call("terminal", { command: "echo 31 passed && exit 3" });
  await call("terminal", { command: "rm -rf /" });
  await call("terminal", { command: "mkdir -p build && rm -rf build" });
  await call("terminal", { command: "sleep 5", timeout: 1 });
  await call("execute_code", {
    code: 'import json\nfrom hermes_tools import read_file, search_files\nprint(len(read_file("notes.md")["content"]))\nprint(search_files("merge"))\nread_file("missing.md")\n',
    language: "python",
  });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  await call("sleep", { seconds: 20 }, stop.signal);
  await call("http_request", { url: "http://169.254.169.254/latest/meta-data" });
  await call("system_info");
  session.close();
}

/** What makes a page unusable for some: contrast, names, order. Empty when there is nothing. */
export async function axeProblems(tab: Page): Promise<readonly string[]> {
  const { source } = (await import("axe-core")).default;
  // The page's policy refuses scripts from outside; the browser's own door is not the page's.
  await tab.evaluate(source);
  const found = (await tab.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap((one) => one.nodes.map((node) => one.id + ': ' + node.target.join(' ') + ' — ' + node.failureSummary)))",
  )) as string[];
  return found;
}

/** How much wider the page is than its window. */
export async function sidewaysScroll(tab: Page): Promise<number> {
  return (await tab.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  )) as number;
}
