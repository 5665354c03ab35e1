import type { Logger } from "../../observe/log.js";
import { describeThrown } from "../../tool/thrown.js";
import type { Connection } from "./connect.js";
import { isRefusal } from "./connect-errors.js";
import type { RawToolList } from "./tool-list-guard.js";

export interface ListedFrom {
  /** Names the SDK had no objection to. */
  readonly accepted: ReadonlySet<string>;
  readonly resources: boolean;
  readonly prompts: boolean;
}

export interface RefreshOptions {
  readonly server: string;
  readonly connection: Connection;
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly take: (list: RawToolList, from: ListedFrom) => void;
}

/** A server that changes its list all the time is read no more often than this. */
const SHORTEST_MS = 250;
const SHORTEST_TTL_MS = 30_000;
const LONGEST_TTL_MS = 24 * 3_600_000;
const LISTEN_AGAIN_MS = 5_000;

/** Why something is done later. */
type Reason = "changed" | "expired" | "listen";

/** Keeps the list of a server's tools up to date: at first, when the server says that it changed, and when it expires. */
export class ToolRefresh {
  readonly #options: RefreshOptions;
  #reading: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  readonly #timers = new Map<Reason, NodeJS.Timeout>();
  #readAt = Number.NEGATIVE_INFINITY;
  #cut: string | undefined;

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  /** Why the list may be incomplete. */
  get cut(): string | undefined {
    return this.#cut;
  }

  get offers(): { readonly resources: boolean; readonly prompts: boolean } {
    const capabilities = this.#options.connection.client.getServerCapabilities();
    return { resources: capabilities?.resources !== undefined, prompts: capabilities?.prompts !== undefined };
  }

  /** Reads the list for the first time and listens for changes from then on. Rejects when it cannot be read. */
  async begin(): Promise<void> {
    const { client } = this.#options.connection;
    client.setNotificationHandler("notifications/tools/list_changed", () => this.#changed());
    await this.#alone();
    void this.#listen();
  }

  /** Reads the list again. */
  now(): Promise<void> {
    const { server, log } = this.#options;
    return this.#alone().catch((thrown: unknown) => {
      if (!this.#stopped)
        log.warn(
          `the tools of MCP server ${server} could not be listed again: ${describeThrown(thrown).message}`,
        );
    });
  }

  /** One reading at a time; whoever comes meanwhile waits for the same. */
  #alone(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      this.#readAt = performance.now();
      if (this.#again) this.#changed();
      this.#again = false;
    });
    return this.#reading;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #changed(): void {
    if (this.#stopped) return;
    const wait = this.#readAt + SHORTEST_MS - performance.now();
    // What changes while the list is being read may not be in it.
    if (this.#reading !== undefined) this.#again = true;
    else if (wait > 0) this.#later("changed", wait, () => void this.now());
    else void this.now();
  }

  async #read(): Promise<void> {
    const { connection, timeoutMs, take } = this.#options;
    const { client, guard } = connection;
    guard.begin();
    const listed =
      client.getServerCapabilities()?.tools === undefined
        ? []
        : (await client.listTools(undefined, { cacheMode: "refresh", timeout: timeoutMs })).tools;
    if (this.#stopped) return;
    const { list } = guard;
    this.#cut = list.cut;
    take(list, { accepted: new Set(listed.map(({ name }) => name)), ...this.offers });
    if (list.ttlMs !== undefined && list.ttlMs > 0)
      this.#later("expired", Math.min(LONGEST_TTL_MS, Math.max(SHORTEST_TTL_MS, list.ttlMs)), () =>
        this.#changed(),
      );
  }

  /** Servers of the newer protocol tell of changes only to those who have asked to be told. */
  async #listen(): Promise<void> {
    const { client } = this.#options.connection;
    if (client.getProtocolEra() !== "modern" || client.getServerCapabilities()?.tools?.listChanged !== true)
      return;
    try {
      const subscription = await client.listen({ toolsListChanged: true });
      const how = await subscription.closed;
      if (how !== "remote") return;
    } catch (thrown) {
      this.#options.log.debug(`MCP server ${this.#options.server}: ${describeThrown(thrown).message}`);
      // One that refuses will refuse again; one that is away for a moment will not.
      if (isRefusal(thrown)) return;
    }
    this.#later("listen", LISTEN_AGAIN_MS, () => {
      // It may have changed while nobody listened.
      this.#changed();
      void this.#listen();
    });
  }

  /** Takes the place of what was to be done for the same reason. */
  #later(reason: Reason, ms: number, work: () => void): void {
    if (this.#stopped) return;
    clearTimeout(this.#timers.get(reason));
    const timer = setTimeout(() => {
      this.#timers.delete(reason);
      work();
    }, ms);
    timer.unref();
    this.#timers.set(reason, timer);
  }
}
