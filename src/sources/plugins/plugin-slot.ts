import { heldLoopIsNamed, watchHeldLoop } from "../../base/held-loop.js";
import { type Logger, maskedLogger } from "../../observe/log.js";
import { describeThrown } from "../../tool/thrown.js";
import type { SourceHost, SourceState, SourceStatus } from "../types.js";
import type { RunningPlugin } from "./running-plugin.js";
import { watchStrayErrors } from "./stray-errors.js";

interface Trouble {
  readonly reason: string;
  readonly fix?: string | undefined;
}

/** One change of a plugin that is being carried out. */
interface Turn {
  /** Set while a version is being loaded. */
  version?: string;
  done: Promise<void>;
}

/** The place of one enabled plugin: what of it is in force, and how it is doing. */
export class PluginSlot {
  readonly name: string;
  readonly log: Logger;
  running: RunningPlugin | undefined;
  /** The version in force, or the one that could not be loaded: it is not tried twice. */
  tried: string | undefined;
  /** No call may run while this plugin does not: its manifest says that it guards them. */
  guards = false;
  readonly #host: SourceHost;
  #state: SourceState = "configured";
  #trouble: Trouble | undefined;
  #quarantined: SourceStatus["quarantined"] = [];
  /** What went wrong in the version in force, without stopping it. */
  #suffered: Trouble | undefined;
  #turn: Turn | undefined;
  /** The turns that have not ended: those that were overtaken, too. */
  readonly #turns = new Set<Turn>();
  #closed = false;
  #removeGuard: (() => void) | undefined;
  /** By folder. */
  readonly #watches = new Map<string, { readonly ready: Promise<void>; stop(): void }>();
  readonly #retired = new Set<RunningPlugin>();

  constructor(name: string, host: SourceHost) {
    this.name = name;
    this.#host = host;
    const prefixed = (line: string) => `plugin ${name}: ${line}`;
    this.log = maskedLogger(host.log, prefixed);
  }

  readonly onBlocked = (what: string, heldMs: number): void => {
    heldLoopIsNamed();
    this.#blocked(what, heldMs);
  };

  #blocked(what: string, heldMs: number): void {
    const message = `${what} blocked the event loop for ${heldMs} ms; everything else had to wait`;
    this.log.warn(message);
    this.#suffer({ reason: message });
  }

  /** Resolves when the last change is over. */
  get loading(): Promise<void> {
    return this.#turn?.done ?? Promise.resolve();
  }

  /** Later changes win: one that has been overtaken brings nothing. */
  change(work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const turn: Turn = { done: Promise.resolve() };
    const isCurrent = () => turn === this.#turn && !this.#closed;
    this.#turn = turn;
    this.#turns.add(turn);
    turn.done = (async () => {
      try {
        await work(isCurrent);
      } catch (error) {
        if (isCurrent()) this.fail({ reason: describeThrown(error).message });
      } finally {
        this.#turns.delete(turn);
      }
    })();
    return turn.done;
  }

  /** Set when this very version is being loaded already: its code must not run twice at once. Resolves with it. */
  joins(version: string): Promise<void> | undefined {
    const begun = [...this.#turns].find((turn) => turn !== this.#turn && turn.version === version);
    if (begun !== undefined) this.#turn = begun;
    return begun?.done;
  }

  /** The files are again those that are in force, whatever was wrong with them meanwhile. */
  recovered(): void {
    this.tried = this.running?.version;
    const [first] = this.#quarantined;
    const trouble = first === undefined ? this.#suffered : leftOut(first);
    this.#become(trouble === undefined ? "ready" : "degraded", trouble);
  }

  /** Tools that were left out because their name was taken come in when it is free again. */
  bringLeftOut(folder: string): void {
    const isFree = ({ name }: { readonly name: string }) => this.#host.registry.get(name) === undefined;
    if (this.running !== undefined && this.#quarantined.some(isFree)) this.#swap(this.running, folder);
    this.recovered();
  }

  /** Its code is about to run, as soon as this resolves. */
  begin(version: string, folder: string): Promise<void> {
    if (this.#turn !== undefined) this.#turn.version = version;
    this.#suffered = undefined;
    const watch = this.#watches.get(folder) ?? this.#watch(folder);
    this.#watches.set(folder, watch);
    if (this.running === undefined) this.#become("connecting", undefined);
    return watch.ready;
  }

  /** Names what its timers and forgotten promises do wrong. */
  #watch(folder: string) {
    const onStray = (thrown: unknown): void => {
      const { type, message } = describeThrown(thrown);
      const reason = `an error that nothing caught: ${type}: ${message}`;
      this.log.error(reason);
      this.#suffer({ reason });
    };
    const endStray = watchStrayErrors(folder, onStray);
    const held = watchHeldLoop(folder, (where, heldMs) => this.#blocked(where, heldMs));
    return {
      ready: held.ready,
      stop() {
        endStray();
        held.stop();
      },
    };
  }

  putInForce(next: RunningPlugin, folder: string): void {
    const before = this.running;
    this.#swap(next, folder);
    before?.removeHooks();
    next.addHooks(this.#host.hooks);
    this.#host.setToolsets?.(`plugin:${this.name}`, Object.fromEntries(next.collected.toolsets));
    this.running = next;
    if (before !== undefined) this.#letGo(before);
    this.recovered();
  }

  #swap(next: RunningPlugin, folder: string): void {
    const report = this.#host.registry.swap({
      source: `plugin:${this.name}`,
      provenance: { kind: "plugin", source: folder },
      tools: next.tools,
      overrides: next.collected.overrides,
    });
    const refused = new Set(report.rejected.map(({ name }) => name));
    next.registered(next.tools.map((tool) => tool.name).filter((name) => !refused.has(name)));
    this.#quarantined = report.rejected;
  }

  /** It may not run, or is not there: nothing of it stays in force. */
  fail(trouble: Trouble): void {
    this.unload();
    this.#become("failed", trouble);
  }

  /** The new version is no good: what was in force before stays in force. With `tried` it is not tried again. */
  keepOld(trouble: Trouble, tried?: string): void {
    this.tried = tried;
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
    this.#suffered = undefined;
    this.#quarantined = [];
    if (before === undefined) return;
    this.#host.registry.swap({ source: `plugin:${this.name}`, provenance: { kind: "plugin" }, tools: [] });
    before.removeHooks();
    this.#host.setToolsets?.(`plugin:${this.name}`, {});
    this.#letGo(before);
  }

  /** Nobody wants this plugin any more. Its last calls may still run, and its timers. */
  stop(): void {
    this.unload();
    this.#closed = true;
    this.#turn = undefined;
    this.#removeGuard?.();
    this.#removeGuard = undefined;
  }

  /** It is wanted again. */
  reopen(): void {
    this.#closed = false;
    this.#state = "configured";
    this.#trouble = undefined;
  }

  async close(): Promise<void> {
    this.stop();
    await Promise.all([...this.#retired].map((one) => one.ended()));
    for (const watch of this.#watches.values()) watch.stop();
    this.#watches.clear();
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
    before.retire(() => this.#retired.delete(before));
  }

  /** Something went wrong that did not stop it. That a newer version could not be loaded weighs more. */
  #suffer(trouble: Trouble): void {
    this.#suffered = trouble;
    if (this.running !== undefined && this.tried === this.running.version) this.recovered();
  }

  #become(state: SourceState, trouble: Trouble | undefined): void {
    const before = `${this.#state} ${this.#trouble?.reason}`;
    this.#state = state;
    this.#trouble = trouble && {
      reason: this.#host.redact(trouble.reason),
      fix: trouble.fix,
    };
    this.#guard();
    const { reason, fix } = this.#trouble ?? {};
    // Told once, however often it is looked at again.
    if (`${state} ${reason}` === before) return;
    if (state === "failed") this.log.error(`${reason ?? "failed"}${fix === undefined ? "" : ` (${fix})`}`);
    else if (state === "degraded") this.log.warn(reason ?? "degraded");
    this.#host.events.emit({
      type: "source.changed",
      source: `plugin:${this.name}`,
      state,
      reason,
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
