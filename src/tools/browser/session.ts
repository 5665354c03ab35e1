import type { Page } from "playwright-core";
import { ToolError } from "../../tool/errors.js";
import type { ProxyTrouble } from "../../tool/fetch.js";
import type { CallContext, Kept } from "../../tool/tool.js";
import { explained } from "./explain-error.js";
import { type LaunchedBrowser, launchBrowser } from "./launch.js";
import { RefNumbers } from "./refs.js";
import { type BrowserSettings, browserSettings } from "./settings.js";
import { Tab } from "./tab.js";
import { Trouble } from "./trouble.js";

const MOST_TABS = 10;

export interface UseOptions {
  /** Start a browser and open a page when there is none. */
  readonly opens?: boolean | undefined;
  /** Go on although a dialog stops the page. */
  readonly despiteDialog?: boolean | undefined;
}

/**
 * The browser of one session: its own program and profile, or a context of its own in a browser that runs already. Used
 * by one call after the other, closed when nobody uses it for a while, started anew when it is gone.
 */
export class BrowserSession implements Kept {
  #launching: Promise<LaunchedBrowser> | undefined;
  /** The last one is the one that calls are about. */
  readonly #tabs: Tab[] = [];
  readonly #trouble = new Trouble();
  readonly #numbers = new RefNumbers();
  #line: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  /** A call is doing something to the page: what opens now is its doing. */
  #acting = false;
  #closed = false;
  /** Why there is no page any more. */
  #gone: string | undefined;

  /** The page that calls are about at this moment. */
  get tab(): Tab | undefined {
    return this.#tabs.at(-1);
  }

  get tabCount(): number {
    return this.#tabs.length;
  }

  /** Runs when those before it are done. */
  async use<T>(ctx: CallContext, options: UseOptions, work: (tab: Tab) => Promise<T>): Promise<T> {
    const before = this.#line;
    let done: () => void = () => undefined;
    this.#line = new Promise<void>((resolve) => {
      done = resolve;
    });
    try {
      await orAborted(before, ctx.signal);
      clearTimeout(this.#idle);
      const tab = await this.#ready(ctx, options);
      await tab.restored;
      return await orAborted(work(tab), ctx.signal);
    } catch (error) {
      throw explained(error, ctx.signal);
    } finally {
      this.#rest(browserSettings(ctx).idleMs);
      // Those behind wait for those before, even when this one has given up.
      void before.then(done);
    }
  }

  /**
   * Does something to the page and waits until it is done, or until a dialog stops the page: then undefined, and what
   * was begun goes on behind the dialog. A tab that opens meanwhile is gone to, unless `follows` is false.
   */
  async act<T>(
    tab: Tab,
    ctx: CallContext,
    work: () => Promise<T>,
    { follows = true }: { readonly follows?: boolean | undefined } = {},
  ): Promise<{ readonly value: T } | undefined> {
    await tab.restored;
    const stop = tab.stopped();
    this.#acting = follows;
    const running = work();
    running.catch(() => undefined);
    try {
      const outcome = await orAborted(
        Promise.race([running.then((value) => ({ value })), stop.promise.then(() => undefined)]),
        ctx.signal,
      );
      if (outcome === undefined && tab.crashed) throw new Error("Page crashed");
      tab.interrupted = outcome === undefined ? running : undefined;
      return outcome;
    } finally {
      stop.forget();
      this.#acting = false;
    }
  }

  /** Connections that were refused since the last call, each host once. */
  takeTrouble(): readonly ProxyTrouble[] {
    return this.#trouble.take();
  }

  /** Back to the page that opened this one; false when there is none. */
  async leaveTab(): Promise<boolean> {
    if (this.#tabs.length < 2) return false;
    await this.tab?.page.close();
    return true;
  }

  /** Another tab in place of one whose page answers nothing any more. */
  async renew(tab: Tab, ctx: CallContext): Promise<Tab> {
    const at = this.#tabs.indexOf(tab);
    if (at !== -1) this.#tabs.splice(at, 1);
    void tab.page.close().catch(() => undefined);
    this.#acting = true;
    try {
      const page = await orAborted(tab.page.context().newPage(), ctx.signal);
      const made = this.#adopt(page, browserSettings(ctx));
      if (made === undefined) throw new Error("Target closed");
      made.notes.push("the page before did not answer any more and was closed");
      return made;
    } finally {
      this.#acting = false;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end("the session is over");
  }

  async #ready(ctx: CallContext, { opens, despiteDialog }: UseOptions): Promise<Tab> {
    if (this.#closed) throw new ToolError("The session is over.", { code: "cancelled" });
    if (this.tab?.crashed === true) await this.#drop(this.tab);
    const tab = this.tab ?? (opens === true ? await this.#open(ctx) : undefined);
    if (tab === undefined) {
      const why = this.#gone === undefined ? "" : ` The last one is gone: ${this.#gone}.`;
      throw new ToolError(`No page is open.${why}`, { hint: "Open one with browser_navigate." });
    }
    const { dialog } = tab;
    if (dialog !== undefined && despiteDialog !== true) {
      throw new ToolError(
        `The page waits for its dialog: ${dialog.type} ${JSON.stringify(dialog.message)}.`,
        {
          hint: "Answer it with browser_dialog (accept or dismiss) first.",
          details: { dialog },
        },
      );
    }
    return tab;
  }

  async #open(ctx: CallContext): Promise<Tab> {
    const settings = browserSettings(ctx);
    const launching = this.#launching ?? this.#launch(ctx, settings);
    const { context } = await orAborted(launching, ctx.signal);
    const tab = this.tab ?? this.#adopt(await context.newPage(), settings);
    if (tab === undefined) throw new Error("Target closed");
    this.#gone = undefined;
    return tab;
  }

  #launch(ctx: CallContext, settings: BrowserSettings): Promise<LaunchedBrowser> {
    ctx.progress({ message: settings.cdpUrl === "" ? "starting a browser" : "connecting to the browser" });
    const launching = launchBrowser({ ctx, onTrouble: (trouble) => this.#trouble.add(trouble) });
    this.#launching = launching;
    launching.then(
      async (launched) => {
        const { context } = launched;
        this.#trouble.listen(context);
        for (const page of context.pages()) this.#adopt(page, settings);
        context.on("page", (page) => this.#adopt(page, settings));
        context.once("close", () => {
          if (this.#launching === launching) void this.#end("the browser ended unexpectedly");
        });
        if (this.#closed) await launched.close();
      },
      () => {
        if (this.#launching === launching) this.#launching = undefined;
      },
    );
    return launching;
  }

  #adopt(page: Page, settings: BrowserSettings): Tab | undefined {
    const known = this.#tabs.find((tab) => tab.page === page);
    if (known !== undefined) return known;
    if (this.#tabs.length >= MOST_TABS) {
      this.tab?.notes.push(`more than ${MOST_TABS} tabs: one that the page opened was closed at once`);
      void page.close().catch(() => undefined);
      return undefined;
    }
    const tab = new Tab(page, settings, this.#numbers);
    const current = this.tab;
    page.once("close", () => void this.#drop(tab));
    if (current === undefined || this.#acting) {
      if (current !== undefined) tab.notes.push("this is a new tab; browser_back closes it");
      this.#tabs.push(tab);
    } else {
      // A page that opens another by itself does not move calls there that were meant for it.
      current.notes.push("the page opened another tab by itself, which is left aside");
      this.#tabs.unshift(tab);
    }
    return tab;
  }

  async #drop(tab: Tab): Promise<void> {
    const at = this.#tabs.indexOf(tab);
    if (at === -1) return;
    const wasCurrent = tab === this.tab;
    this.#tabs.splice(at, 1);
    if (wasCurrent) {
      const why = tab.crashed ? "it crashed" : "it was closed";
      this.#gone = why;
      this.tab?.notes.push(`the tab ${shortAddress(tab.page)} is gone (${why}); this is the one before it`);
    }
    if (!tab.page.isClosed()) await tab.page.close().catch(() => undefined);
  }

  #rest(idleMs: number): void {
    clearTimeout(this.#idle);
    if (this.#launching === undefined || this.#closed) return;
    const seconds = Math.round(idleMs / 1000);
    this.#idle = setTimeout(
      () => void this.#end(`the browser was closed after ${seconds} s without use`),
      idleMs,
    );
    this.#idle.unref();
  }

  async #end(why: string): Promise<void> {
    clearTimeout(this.#idle);
    const launching = this.#launching;
    this.#launching = undefined;
    this.#tabs.length = 0;
    this.#gone = why;
    const launched = await launching?.catch(() => undefined);
    await launched?.close();
  }
}

function shortAddress(page: Page): string {
  return page.url().slice(0, 100);
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
