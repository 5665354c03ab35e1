import type { Approver } from "../../call/scope.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { QueueOptions } from "./queue.js";
import type { ApprovalStore } from "./store.js";

/** The approvals of one runtime's home; opened when they are first needed, also with the journal switched off. */
export class RuntimeApprovals {
  readonly #runtime: Runtime;
  #store: Promise<ApprovalStore> | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
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
    const { events, secrets } = this.#runtime;
    const redact = (text: string) => secrets.redact(text);
    return {
      ask: async (request, signal) => {
        const [{ createQueueApprover }, store] = await Promise.all([import("./queue.js"), this.store()]);
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
    const { config, log, approvalsElsewhere } = this.#runtime;
    if (approvalsElsewhere !== undefined) return approvalsElsewhere();
    const { openApprovals } = await import("./open.js");
    return openApprovals({ home: config.paths.home, stateDb: config.paths.stateDb, log });
  }
}
