import { type Logger, maskedLogger } from "../../observe/log.js";
import { describeThrown } from "../../tool/thrown.js";
import type { SourceHost, SourceState, SourceStatus } from "../types.js";
import type { RunningPlugin } from "./running-plugin.js";
import { watchStrayErrors } from "./stray-errors.js";

interface Trouble {
  readonly reason: string;
  readonly fix?: string;
}

/** The place of one enabled plugin: what of it is in force, and how it is doing. */
export class PluginSlot {
  readonly name: string;
  readonly log: Logger;
  running: RunningPlugin | undefined;
  loading: Promise<void> = Promise.resolve();
  /** The version that was last loaded or tried; it is not tried twice. */
  tried: string | undefined;
  /** No call may run while this plugin does not: its manifest says that it guards them. */
  guards = false;
  readonly #host: SourceHost;
  #state: SourceState = "configured";
  #trouble: Trouble | undefined;
  #quarantined: SourceStatus["quarantined"] = [];
  #turn = 0;
  #unfinished = 0;
  #closed = false;
  #removeGuard: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;
  readonly #retired = new Set<RunningPlugin>();

  constructor(name: string, host: SourceHost) {
    this.name = name;
    this.#host = host;
    const prefixed = (line: string) => `plugin ${name}: ${line}`;
    this.log = maskedLogger(host.log, prefixed);
  }

  readonly onBlocked = (what: string, heldMs: number): void => {
    const message = `${what} blocked the event loop for ${heldMs} ms; everything else had to wait`;
    this.log.warn(message);
    this.#suffer({ reason: message });
  };

  /** Later changes win: one that has been overtaken brings nothing. */
  change(work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const isCurrent = () => turn === this.#turn && !this.#closed;
    // What is being tried right now will be dropped, so it has to be tried again.
    if (this.#unfinished > 0) this.tried = this.running?.version;
    this.#unfinished += 1;
    this.loading = (async () => {
      try {
        await work(isCurrent);
      } catch (error) {
        if (isCurrent()) this.fail({ reason: describeThrown(error).message });
      } finally {
        this.#unfinished -= 1;
      }
    })();
    return this.loading;
  }

  /** The files are again those that are in force, whatever was wrong with them meanwhile. */
  recovered(): void {
    this.tried = this.running?.version;
    const [first] = this.#quarantined;
    if (first === undefined) this.#become("ready", undefined);
    else this.#become("degraded", leftOut(first));
  }

  /** Its code is about to run. */
  begin(folder: string): void {
    this.#stopWatching ??= watchStrayErrors(folder, (thrown) => {
      const { type, message } = describeThrown(thrown);
      const reason = `an error that nothing caught: ${type}: ${message}`;
      this.log.error(reason);
      this.#suffer({ reason });
    });
    if (this.running === undefined) this.#become("connecting", undefined);
  }

  putInForce(next: RunningPlugin, folder: string): void {
    const { registry, hooks } = this.#host;
    const before = this.running;
    const report = registry.swap({
      source: `plugin:${this.name}`,
      provenance: { kind: "plugin", source: folder },
      tools: next.tools,
      overrides: next.collected.overrides,
    });
    const refused = new Set(report.rejected.map(({ name }) => name));
    next.registered(next.tools.map((tool) => tool.name).filter((name) => !refused.has(name)));
    before?.removeHooks();
    next.addHooks(hooks);
    this.#host.setToolsets?.(`plugin:${this.name}`, Object.fromEntries(next.collected.toolsets));
    this.running = next;
    this.#quarantined = report.rejected;
    if (before !== undefined) this.#letGo(before);
    this.recovered();
  }

  /** It may not run, or is not there: nothing of it stays in force. */
  fail(trouble: Trouble): void {
    this.unload();
    this.#become("failed", trouble);
  }

  /** The new version is no good: what was in force before stays in force. */
  keepOld(trouble: Trouble): void {
    if (this.running === undefined) this.#become("failed", trouble);
    else
      this.#become("degraded", {
        ...trouble,
        reason: `${trouble.reason}; the version before stays in force`,
      });
  }

  unload(): void {
    const before = this.running;
    this.tried = undefined;
    this.running = undefined;
    this.#quarantined = [];
    if (before === undefined) return;
    this.#host.registry.swap({ source: `plugin:${this.name}`, provenance: { kind: "plugin" }, tools: [] });
    before.removeHooks();
    this.#host.setToolsets?.(`plugin:${this.name}`, {});
    this.#letGo(before);
  }

  /** Gives up the place: nobody wants this plugin any more. */
  stop(): void {
    this.#closed = true;
    this.#removeGuard?.();
    this.#removeGuard = undefined;
  }

  async close(): Promise<void> {
    this.stop();
    this.unload();
    await Promise.all([...this.#retired].map((one) => one.ended()));
    this.#stopWatching?.();
  }

  status(): SourceStatus {
    const refused = new Set(this.#quarantined.map(({ name }) => name));
    const tools = (this.running?.tools ?? []).map((tool) => tool.name).filter((name) => !refused.has(name));
    return {
      source: `plugin:${this.name}`,
      state: this.#state,
      tools: tools.sort(),
      ...this.#trouble,
      quarantined: this.#quarantined,
    };
  }

  #letGo(before: RunningPlugin): void {
    this.#retired.add(before);
    before.retire();
  }

  /** Something went wrong that did not stop it. */
  #suffer(trouble: Trouble): void {
    if (this.running !== undefined) this.#become("degraded", trouble);
    else this.#trouble ??= trouble;
  }

  #become(state: SourceState, trouble: Trouble | undefined): void {
    const before = `${this.#state} ${this.#trouble?.reason}`;
    this.#state = state;
    this.#trouble = trouble && {
      reason: this.#host.redact(trouble.reason),
      ...(trouble.fix !== undefined && { fix: trouble.fix }),
    };
    this.#guard();
    const { reason, fix } = this.#trouble ?? {};
    // Told once, however often it is looked at again.
    if (`${state} ${reason}` === before) return;
    if (state === "failed") this.log.error(`${reason ?? "failed"}${fix === undefined ? "" : ` (${fix})`}`);
    else if (state === "degraded") this.log.warn(reason ?? "degraded");
    if (!this.#host.events.active) return;
    this.#host.events.emit({
      type: "source.changed",
      source: `plugin:${this.name}`,
      state,
      ...(reason !== undefined && { reason }),
      at: Date.now(),
    });
  }

  /** A guard that is missing must not mean that nobody guards. */
  #guard(): void {
    const missing = this.guards && this.running === undefined && !this.#closed;
    if (!missing) {
      this.#removeGuard?.();
      this.#removeGuard = undefined;
      return;
    }
    this.#removeGuard ??= this.#host.hooks.on(
      "pre_tool_call",
      () => ({
        action: "block",
        message: `the plugin ${this.name} guards every call and does not run: ${this.#trouble?.reason ?? "it is being loaded"}`,
      }),
      { name: `${this.name}/pre_tool_call`, onFailure: "closed", order: Number.NEGATIVE_INFINITY },
    );
  }
}

function leftOut(tool: { readonly name: string; readonly reason: string }): Trouble {
  return { reason: `tool ${tool.name} was left out: ${tool.reason}` };
}
