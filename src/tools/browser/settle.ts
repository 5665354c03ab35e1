import { setTimeout as delay } from "node:timers/promises";
import type { Page, Request } from "playwright-core";

/** Handlers of a click have begun what they begin by then. */
const BEGINNING_MS = 80;
const LOADING_MS = 10_000;
const REQUESTS_MS = 2_000;
const TAB_MS = 3_000;
const LOOK_MS = 40;

const AWAITED = new Set(["document", "xhr", "fetch", "script"]);

/**
 * Does something to a page and waits for what it sets off: a new document, a new tab (`followed` says when it is there), or
 * requests whose answers are shown.
 */
export async function settled<T>(page: Page, work: () => Promise<T>, followed: () => boolean): Promise<T> {
  const open = new Set<Request>();
  let leaves = false;
  let opensTab = false;
  const begins = (request: Request) => {
    const owner = pageOf(request);
    if (owner !== page) {
      opensTab ||= request.isNavigationRequest();
      return;
    }
    if (!AWAITED.has(request.resourceType())) return;
    open.add(request);
    leaves ||= request.isNavigationRequest() && request.frame() === page.mainFrame();
  };
  const ends = (request: Request) => void open.delete(request);
  const context = page.context();
  context.on("request", begins);
  context.on("requestfinished", ends);
  context.on("requestfailed", ends);
  try {
    const value = await work();
    await delay(BEGINNING_MS);
    if (leaves) await page.waitForLoadState("load", { timeout: LOADING_MS }).catch(() => undefined);
    await waitWhile(() => opensTab && !followed(), TAB_MS);
    await waitWhile(() => !leaves && open.size > 0, REQUESTS_MS);
    return value;
  } finally {
    context.off("request", begins);
    context.off("requestfinished", ends);
    context.off("requestfailed", ends);
  }
}

async function waitWhile(condition: () => boolean, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (condition() && performance.now() < until) await delay(LOOK_MS);
}

/** Undefined for a page that is just being opened. */
function pageOf(request: Request): Page | undefined {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}
