import type { Approver } from "../call/scope.js";
import type { QueueOptions } from "../policy/approvals/queue.js";
import type { ApprovalStore } from "../policy/approvals/store.js";
import type { PluginContributions } from "../sources/plugins/source.js";
import { runningServer } from "./running-server.js";
import type { Runtime } from "./runtime.js";

/** Who is asked, and where questions wait; opened when they are first needed, also with the journal switched off. */
export class RuntimeApprovals {
  readonly #runtime: Runtime;
  readonly #openElsewhere: (() => Promise<ApprovalStore>) | undefined;
  #store: Promise<ApprovalStore> | undefined;
  #named: { readonly name: string; readonly approver: Approver } | undefined;
  /** Asked of the server that runs for this home, unless this process is that server. */
  #isPageOpen: () => boolean | Promise<boolean> = async () =>
    (await runningServer(this.#runtime.config.paths.home))?.page_open === true;

  constructor(runtime: Runtime, openElsewhere: (() => Promise<ApprovalStore>) | undefined) {
    this.#runtime = runtime;
    this.#openElsewhere = openElsewhere;
  }

  /** Who is asked before dangerous calls, when `approvals.approver` names somebody. */
  configured(): Approver | undefined {
    const name = this.#runtime.config.values.approvals.approver;
    if (name === "") return undefined;
    // Kept: the plugin makes its approver once, not for every question.
    if (this.#named?.name !== name) {
      this.#named = { name, approver: approverOfPlugin(name, () => this.#runtime.sources.plugins) };
    }
    return this.#named.approver;
  }

  /**
   * Who is asked where no person sits: whom the settings name, or the queue while it may be used, as they are when the
   * question comes up. Nobody is there otherwise, and the call is denied at once.
   */
  unattended(
    kind: "unattended_mode" | "cron_mode" = "unattended_mode",
    options: Pick<QueueOptions, "onPending"> = {},
  ): Approver {
    const queue = this.queue(options);
    return {
      isThere: () => {
        const mode = this.#runtime.config.values.approvals[kind];
        if (this.configured() !== undefined || mode === "queue") return true;
        return mode === "page" && this.#isPageOpen();
      },
      ask: (request, signal) => (this.configured() ?? queue).ask(request, signal),
    };
  }

  /** For the process that shows the page itself. */
  pageIsHere(isOpen: () => boolean): void {
    this.#isPageOpen = isOpen;
  }

  /** Leaves each question where this and other processes can answer it. */
  queue(options: Pick<QueueOptions, "audience" | "onPending"> = {}): Approver {
    const { events, redact } = this.#runtime;
    return {
      ask: async (request, signal) => {
        const [{ createQueueApprover }, store] = await Promise.all([
          import("../policy/approvals/queue.js"),
          this.store(),
        ]);
        return createQueueApprover({ store, events, redact, ...options }).ask(request, signal);
      },
    };
  }

  store(): Promise<ApprovalStore> {
    this.#store ??= this.#open().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  async close(): Promise<void> {
    // One that could not be opened was reported to whoever asked for it.
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }

  async #open(): Promise<ApprovalStore> {
    if (this.#openElsewhere !== undefined) return this.#openElsewhere();
    const { openApprovals } = await import("../policy/approvals/open.js");
    const { config, log } = this.#runtime;
    const maxBytes = config.values.approvals.max_mb * 1024 * 1024;
    return openApprovals({ home: config.paths.home, stateDb: config.paths.stateDb, log, maxBytes });
  }
}

/**
 * The approver of a plugin. While the plugin is not there nobody can say yes: asking somebody else instead is not
 * what the person wrote down.
 */
function approverOfPlugin(
  name: string,
  plugins: () => Pick<PluginContributions, "approver"> | undefined,
): Approver {
  /** As long as the same plugin brings it; one that was loaded anew brings its own. */
  let made: { readonly by: () => unknown; readonly approver: Promise<Approver> } | undefined;
  return {
    async ask(request, signal) {
      const make = plugins()?.approver(name);
      if (make === undefined) {
        const reason = `approvals.approver is ${name}, and no running plugin brings an approver of that name`;
        return { answer: "deny", by: "approvals.approver", reason };
      }
      const current = made?.by === make ? made : { by: make, approver: Promise.resolve(make()) };
      made = current;
      // One that could not be made may be made the next time.
      current.approver.catch(() => {
        if (made === current) made = undefined;
      });
      return (await current.approver).ask(request, signal);
    },
  };
}
