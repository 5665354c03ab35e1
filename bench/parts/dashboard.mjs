// The page in a real browser: how soon it can be used, what the first load brings, and the longest time it does not answer
// while 200 calls a second stream in.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALL, callsAtPace } from "../calls-at-pace.mjs";
import { post, startServer } from "../serve.mjs";
import { single, summary } from "../statistics.mjs";
import { systemBrowser } from "../system-browser.mjs";

/** Pages that follow what happens. */
const PAGES = ["live", "stats"];
const LONGEST_SECONDS = 10;
/** A page with nothing in it is no test. */
const CALLS_BEFORE = 400;

export async function measureDashboard({ dist, effort }) {
  let executablePath;
  try {
    executablePath = systemBrowser();
  } catch (error) {
    return { milliseconds: {}, kilobytes: {}, leftOut: { dashboard: error.message } };
  }
  const { chromium } = await import("playwright-core");
  const home = await mkdtemp(join(tmpdir(), "hermes-bench-"));
  const server = await startServer({ dist, home, sockets: 32 });
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  try {
    for (let call = 0; call < CALLS_BEFORE; call += 1) await post({ server, session: "before", call: CALL });
    const loads = [];
    for (let round = 0; round < effort.rounds; round += 1) loads.push(await firstLoad(browser, server));
    const seconds = Math.min(LONGEST_SECONDS, effort.rounds);
    const longest = {};
    for (const page of PAGES) {
      const tasks = await whileCallsStreamIn({ browser, server, page, seconds });
      longest[`dashboard-longest-task-${page}`] = single(Math.max(0, ...tasks));
    }
    return {
      milliseconds: {
        "dashboard-interactive": summary(loads.map(({ interactive }) => interactive)),
        ...longest,
      },
      kilobytes: { "dashboard-first-load": single(loads[0].bytes / 1_000) },
    };
  } finally {
    await browser.close();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** In a browser that has never seen it. */
async function firstLoad(browser, server) {
  const { context, tab } = await openTab(browser, server);
  try {
    // Scripts and styles as they are sent; what follows is data.
    const bytes = await tab.evaluate(() =>
      [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ name }) => !name.includes("/v1/"))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    );
    const interactive = await tab.evaluate(() => {
      const busyUntil = window.longTasks
        .filter(({ start }) => start < window.shownAt + 50)
        .reduce((last, { start, duration }) => Math.max(last, start + duration), 0);
      return Math.max(window.shownAt, busyUntil);
    });
    return { bytes, interactive };
  } finally {
    await context.close();
  }
}

async function whileCallsStreamIn({ browser, server, page, seconds }) {
  const { context, tab } = await openTab(browser, server);
  try {
    await tab.goto(`http://127.0.0.1:${server.port}/${page}`);
    await tab.locator("main:not([data-state=loading])").waitFor();
    const begun = await tab.evaluate(() => performance.now());
    const made = await callsAtPace(server, seconds);
    if (page === "live") await sawThem(tab, made);
    const tasks = await tab.evaluate(
      (from) => window.longTasks.filter(({ start }) => start >= from).map(({ duration }) => duration),
      begun,
    );
    return tasks;
  } finally {
    await context.close();
  }
}

/** A page that does not follow is never busy. */
async function sawThem(tab, made) {
  const text = await tab.locator("body").innerText();
  const seen = Number(/([\d,]+) calls a minute/.exec(text)?.[1]?.replaceAll(",", "") ?? 0);
  if (seen < made / 2) throw new Error(`the page has seen ${seen} of ${made} calls`);
}

async function openTab(browser, { port, token }) {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const tab = await context.newPage();
  await tab.addInitScript(watchPage);
  await tab.goto(`http://127.0.0.1:${port}/?token=${token}`);
  await tab.waitForFunction(() => window.shownAt !== undefined);
  return { context, tab };
}

/** Runs in the page before anything else. Shown is when it has its data and says so, and the next frame is drawn. */
function watchPage() {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      window.longTasks.push({ start: startTime, duration });
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    const main = document.querySelector("main");
    if (main === null || main.dataset.state === "loading") requestAnimationFrame(look);
    else
      requestAnimationFrame(() => {
        window.shownAt = performance.now();
      });
  };
  requestAnimationFrame(look);
}
