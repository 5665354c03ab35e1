import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { linksOfPage } from "./find-links.js";

export interface LinkState {
  readonly url: string;
  readonly ok: boolean;
  /** 0 when nobody answered. */
  readonly status: number;
  readonly reason?: string | undefined;
  /** The page or file that has the link. */
  readonly parent?: string | undefined;
}

export interface CheckOptions {
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly maxLinks: number;
  /** Pages below this address are read for further links. */
  readonly crawl?: string | undefined;
  readonly ctx: CallContext;
}

const MAX_PAGE_BYTES = 10 * 1024 * 1024;
/** What servers say that do not like the question, not the address. */
const ASK_AGAIN = new Set([400, 403, 404, 405, 406, 409, 429, 500, 501, 503]);

interface Waiting {
  readonly url: string;
  readonly parent?: string | undefined;
  readonly read: boolean;
}

/** Follows links with a bounded number of requests at once; every address is asked for once. */
export class LinkCheck {
  readonly states: LinkState[] = [];
  readonly #options: CheckOptions;
  readonly #seen = new Set<string>();
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #left = 0;

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  /** Links that were found and not looked at because there were too many. */
  get leftOut(): number {
    return this.#left;
  }

  add(url: string, more: { readonly parent?: string | undefined; readonly read?: boolean } = {}): void {
    if (this.#seen.has(url)) return;
    if (this.#seen.size >= this.#options.maxLinks) {
      this.#left += 1;
      return;
    }
    this.#seen.add(url);
    this.#waiting.push({ url, parent: more.parent, read: more.read === true });
  }

  async run(): Promise<void> {
    const { ctx, concurrency } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const next = (): void => {
        if (ctx.signal.aborted) reject(ctx.signal.reason);
        while (!ctx.signal.aborted && this.#running < concurrency) {
          const link = this.#waiting.shift();
          if (link === undefined) break;
          this.#running += 1;
          this.#check(link).then((state) => {
            this.#running -= 1;
            this.states.push(state);
            this.#tell();
            next();
          }, reject);
        }
        if (this.#running === 0 && this.#waiting.length === 0) resolve();
      };
      next();
    });
  }

  #tell(): void {
    const done = this.states.length;
    if (done % 25 !== 0) return;
    const broken = this.states.filter(({ ok }) => !ok).length;
    this.#options.ctx.progress({
      message: `${done} of ${this.#seen.size} links, ${broken} broken`,
      fraction: done / this.#seen.size,
    });
  }

  async #check({ url, parent, read }: Waiting): Promise<LinkState> {
    try {
      const first = await this.#ask(url, read ? "GET" : "HEAD", read);
      if (first.ok || read || !ASK_AGAIN.has(first.status)) return { ...first, parent };
      return { ...(await this.#ask(url, "GET", false)), parent };
    } catch (error) {
      if (this.#options.ctx.signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const blocked = ToolError.isInstance(error) && (error.code === "blocked" || error.code === "denied");
      return { url, ok: false, status: 0, reason: blocked ? `not asked: ${reason}` : reason, parent };
    }
  }

  async #ask(url: string, method: string, read: boolean): Promise<LinkState> {
    const { ctx, timeoutMs } = this.#options;
    const response = await ctx.fetch({ url, method, timeoutMs, maxBytes: MAX_PAGE_BYTES, overflow: "cut" });
    const state = { url, ok: response.ok, status: response.status };
    const isPage = /html/i.test(response.headers.get("content-type") ?? "");
    if (!read || !response.ok || !isPage) {
      await response.close();
      return response.ok ? state : { ...state, reason: response.statusText };
    }
    const html = await response.text();
    const { crawl } = this.#options;
    for (const link of linksOfPage(html, response.url))
      this.add(link, { parent: url, read: crawl !== undefined && link.startsWith(crawl) });
    return state;
  }
}
