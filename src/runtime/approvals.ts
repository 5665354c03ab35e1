import type { Approver } from "../call/scope.js";
import type { QueueOptions } from "../policy/approvals/queue.js";
import type { ApprovalStore } from "../policy/approvals/store.js";
import type { PluginContributions } from "../sources/plugins/source.js";
import type { Runtime } from "./runtime.js";

/** Who is asked, and where questions wait; opened when they are first needed, also with the journal switched off. */
export class RuntimeApprovals {
  readonly #runtime: Runtime;
  readonly #openElsewhere: (() => Promise<ApprovalStore>) | undefined;
  #store: Promise<ApprovalStore> | undefined;

  constructor(runtime: Runtime, openElsewhere: (() => Promise<ApprovalStore>) | undefined) {
    this.#runtime = runtime;
    this.#openElsewhere = openElsewhere;
  }

  /** Who is asked before dangerous calls, when `approvals.approver` names somebody. */
  configured(): Approver | undefined {
    const name = this.#runtime.config.values.approvals.approver;
    return name === "" ? undefined : approverOfPlugin(name, () => this.#runtime.sources.plugins);
  }

  /**
   * Who is asked where no person sits. Undefined, so that the call is denied at once, unless the operator lets
   * such calls wait for an answer from elsewhere.
   */
  unattended(
    kind: "unattended_mode" | "cron_mode" = "unattended_mode",
    options: Pick<QueueOptions, "onPending"> = {},
  ): Approver | undefined {
    return this.#runtime.config.values.approvals[kind] === "queue" ? this.queue(options) : undefined;
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
    return openApprovals({ home: config.paths.home, stateDb: config.paths.stateDb, log });
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
