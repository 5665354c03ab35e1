import type { BrowserContext, Page } from "playwright-core";
import type { ProxyTrouble } from "../../tool/fetch.js";

const MOST_TROUBLE = 50;
const MOST_HOSTS = 2_000;
/**
 * Hosts of those who make browsers. Whatever is switched off, a browser asks some of them things of its own (whether
 * somebody is signed in, whether there is something newer), which is no doing of a page.
 */
const MAKERS =
  /(?:^|\.)(?:google\.com|googleapis\.com|gstatic\.com|gvt[12]\.com|googleusercontent\.com|google-analytics\.com|microsoft\.com|msn\.com|bing\.com|live\.com|msedge\.net)$/i;

/** Connections of a session's pages that came to nothing, until a call tells of them. */
export class Trouble {
  #waiting: ProxyTrouble[] = [];
  /** Hosts that a page asked for by itself. */
  readonly #asked = new Set<string>();

  /** From now on it is known which hosts the pages of this context ask for. */
  listen(context: BrowserContext): void {
    context.on("request", (request) => this.#ask(request.url()));
    const hear = (page: Page) => page.on("websocket", (socket) => this.#ask(socket.url()));
    for (const page of context.pages()) hear(page);
    context.on("page", hear);
  }

  add(trouble: ProxyTrouble): void {
    this.#waiting.push(trouble);
    if (this.#waiting.length > MOST_TROUBLE) this.#waiting.shift();
  }

  /** Those of pages since the last call, each host once. */
  take(): readonly ProxyTrouble[] {
    const told = this.#waiting.filter(({ host }) => !MAKERS.test(host) || this.#asked.has(host));
    this.#waiting = [];
    return [...new Map(told.map((trouble) => [trouble.host, trouble])).values()];
  }

  #ask(url: string): void {
    if (!URL.canParse(url) || this.#asked.size >= MOST_HOSTS) return;
    const { hostname } = new URL(url);
    if (MAKERS.test(hostname)) this.#asked.add(hostname);
  }
}
