import { setTimeout as delay } from "node:timers/promises";
import type { Frame, Page, Request } from "playwright-core";

/** Handlers of a click have begun what they begin by then, on a machine that has time. */
const BEGINNING_MS = 80;
/** On one that has not, what takes long to answer also takes long to begin. */
const BEGINNING_ANSWERS = 4;
const LONGEST_BEGINNING_MS = 1_500;
const LOADING_MS = 10_000;
const REQUESTS_MS = 2_000;
const TAB_MS = 3_000;
const DOWNLOAD_MS = 1_000;
const LOOK_MS = 40;

const AWAITED = new Set(["document", "xhr", "fetch", "script"]);

/**
 * Does something to a page and waits for what it sets off: a new document, a download, a new tab (`followed` says when it
 * is there), or requests whose answers are shown.
 */
export async function settled<T>(page: Page, work: () => Promise<T>, followed: () => boolean): Promise<T> {
  const watch = watchPage(page);
  try {
    const value = await work();
    await begun(page);
    await watch.left();
    await waitWhile(() => watch.opensTab && !followed(), TAB_MS);
    await waitWhile(() => watch.isAsking, REQUESTS_MS);
    return value;
  } finally {
    watch.forget();
  }
}

function watchPage(page: Page) {
  const open = new Set<Request>();
  let opensTab = false;
  /** The request for another document in this page's place. */
  let leaving: Request | undefined;
  let isThere = false;
  let downloads = false;
  const begins = (request: Request) => {
    if (pageOf(request) !== page) {
      opensTab ||= request.isNavigationRequest();
      return;
    }
    if (!AWAITED.has(request.resourceType())) return;
    open.add(request);
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) {
      leaving = request;
      isThere = false;
    }
  };
  const ends = (request: Request) => void open.delete(request);
  const arrives = (frame: Frame) => {
    isThere ||= frame === page.mainFrame();
  };
  const sends = () => {
    downloads = true;
  };
  const context = page.context();
  context.on("request", begins);
  context.on("requestfinished", ends);
  context.on("requestfailed", ends);
  page.on("framenavigated", arrives);
  page.on("download", sends);
  return {
    get opensTab() {
      return opensTab;
    },
    get isAsking() {
      return leaving === undefined && open.size > 0;
    },
    /** When the page leads elsewhere: until it is there, or what came was a file, or nothing came. */
    async left(): Promise<void> {
      const isOpen = () => leaving !== undefined && open.has(leaving);
      await waitWhile(() => isOpen() && !isThere && !downloads && !page.isClosed(), LOADING_MS);
      if (leaving === undefined || downloads || page.isClosed()) return;
      // Whatever ended without another document may still turn out to be a file.
      await waitWhile(() => !isThere && !downloads && !page.isClosed(), DOWNLOAD_MS);
      if (isThere) await page.waitForLoadState("load", { timeout: LOADING_MS }).catch(() => undefined);
    },
    forget(): void {
      context.off("request", begins);
      context.off("requestfinished", ends);
      context.off("requestfailed", ends);
      page.off("framenavigated", arrives);
      page.off("download", sends);
    },
  };
}

/** Until what was done to the page can have set something off. */
async function begun(page: Page): Promise<void> {
  const started = performance.now();
  const late = new AbortController();
  const answer = page.evaluate("1").catch(() => undefined);
  await Promise.race([answer, delay(LONGEST_BEGINNING_MS, undefined, late).catch(() => undefined)]);
  late.abort();
  const took = performance.now() - started;
  const wait = Math.min(LONGEST_BEGINNING_MS, Math.max(BEGINNING_MS, took * BEGINNING_ANSWERS));
  if (wait > took) await delay(wait - took);
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
