import type { Environment } from "../env/environment.js";
import type { ModelUsage } from "../model/model-client.js";
import type { Effect } from "../tool/effects.js";
import type { Connect, Fetch, LookUp, OpenProxy } from "../tool/fetch.js";
import type { BilledPurpose } from "../tool/host-capabilities.js";
import { describeThrown, ignoreRejection } from "../tool/thrown.js";
import type { CallContext, Kept, NestedTools, NestedToolsOptions, Progress } from "../tool/tool.js";
import { isCovered } from "./admit.js";
import type { CallRecord } from "./call-record.js";
import { changeWhenReady } from "./change-when-ready.js";
import { connectInCall, fetchInCall } from "./fetch-in-call.js";
import { guardedEnvironment } from "./guarded-files.js";
import { judge } from "./judge.js";

/** Keeps the time that a call may take. */
export interface CallClock {
  /** While a call made from inside this one waits for a person, or nobody is there yet to run this one. */
  pause(waiting: boolean): void;
  /** The work begins once more from nothing. */
  beginAnew(): void;
}

/** What a handler sees of its call. The abort controller is made on first use: most calls never need one. */
export class HandlerContext implements CallContext {
  readonly #call: CallRecord;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;
  #onAbort: (() => void) | undefined;
  #environment: Environment | undefined;
  #waits = 0;
  #over = false;
  clock: CallClock | undefined;

  constructor(call: CallRecord) {
    this.#call = call;
  }

  get callId() {
    return this.#call.id;
  }
  get toolName() {
    return this.#call.entry.name;
  }
  get traceparent() {
    return this.#call.trace;
  }
  get session() {
    return this.#call.scope.info;
  }
  get environment() {
    const { scope, keys, mayChange } = this.#call;
    if (!keys.some((key) => key.space.startsWith("file@"))) {
      if (mayChange === undefined) return scope.environment;
      this.#environment ??= changeWhenReady(scope.environment, mayChange);
      return this.#environment;
    }
    this.#environment ??= guardedEnvironment(scope.environment, {
      keys,
      recorder: scope.services.fileChanges?.recorderFor(this.#call),
      ready: mayChange,
      signal: () => this.signal,
    });
    return this.#environment;
  }
  get processes() {
    return this.#call.scope.processes;
  }
  get jobs() {
    return this.#call.scope.services.jobs;
  }
  get host() {
    return this.#call.scope.host;
  }
  get secrets() {
    return this.#call.scope.services.secrets;
  }
  get settings() {
    return this.#call.scope.services.settingsFor(this.#call.entry.name);
  }
  get cacheDir() {
    return this.#call.scope.services.cacheDir;
  }
  get ask() {
    return this.#call.scope.ask;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  onAbort(listener: () => void): void {
    const before = this.#onAbort;
    this.#onAbort =
      before === undefined
        ? listener
        : () => {
            before();
            listener();
          };
    if (this.#abortReason !== undefined) listener();
  }

  /** An arrow, so that a tool may hand it on by itself. */
  readonly fetch: Fetch = (request) => fetchInCall(this.#call, this, request);
  readonly connect: Connect = (request) => connectInCall(this.#call, this, request);
  readonly openProxy: OpenProxy = (request) =>
    this.#call.scope.services.openProxy({
      ...request,
      refusal: (url) => this.refusal({ action: "network:fetch", resource: url, mode: "read" }),
    });
  readonly lookUp: LookUp = (question) =>
    this.#call.scope.services.lookUp({ ...question, signal: question.signal ?? this.signal });

  load<T>(name: string): Promise<T> {
    // The author says what the library is; nobody can check that.
    return this.#call.scope.services.loadPackage(name) as Promise<T>;
  }

  packageFolder(name: string): string {
    return this.#call.scope.services.packageFolder(name);
  }

  refusal(effect: Effect): string | undefined {
    const verdict = judge(this.#call, [effect]);
    if (verdict?.verdict === "allow") return undefined;
    if (verdict?.verdict === "ask" && isCovered(verdict, this.#call)) return undefined;
    return verdict?.reason ?? `rule ${verdict?.rule ?? "missing"} does not allow it`;
  }

  keep<T extends Kept>(kind: new () => T): T {
    return this.#call.scope.state.keep(kind);
  }

  openTools(options: NestedToolsOptions = {}): NestedTools {
    const { id, scope } = this.#call;
    const nested = scope.openTools({
      ...options,
      insideCall: id,
      onWaiting: (waiting) => {
        this.wait(waiting);
        options.onWaiting?.(waiting);
      },
    });
    return {
      tools: nested.tools,
      call: async (request, given) => {
        const result = await nested.call(request, { ...given, signal: given?.signal ?? this.signal });
        if (result.untrusted_from !== undefined) this.#call.addUntrusted(result.untrusted_from);
        return result;
      },
      close: () => nested.close(),
    };
  }

  /** True while a call made from inside this one waits for a person, or nobody is there yet to run this one. */
  get waiting(): boolean {
    return this.#waits > 0;
  }

  wait(begins: boolean): void {
    const before = this.waiting;
    this.#waits += begins ? 1 : -1;
    if (before !== this.waiting) this.clock?.pause(this.waiting);
  }

  /** What it was begun on is gone; the time that took is not that of its next beginning. */
  beginAnew(): void {
    this.clock?.beginAnew();
  }

  progress(update: Progress): void {
    const { id, entry, scope, onProgress } = this.#call;
    const { events, log } = scope.services;
    if (this.#over || (onProgress === undefined && !events.wants("call.progress"))) return;
    const progress = this.#readable(update);
    try {
      ignoreRejection(onProgress?.(progress, id));
    } catch (thrown) {
      log.warn(`onProgress of a call of ${entry.name} failed: ${describeThrown(thrown).message}`);
    }
    if (events.wants("call.progress"))
      events.emit({ type: "call.progress", session: scope.info.id, id, name: entry.name, progress });
  }

  reportUsage(usage: ModelUsage, model?: string, purpose?: BilledPurpose): void {
    this.#call.countUsage(usage, model, purpose);
  }

  /** Progress is the author's word too: it may be anything, and none of it may harm the call. */
  #readable(update: Progress): Progress {
    try {
      return masked(update, this.#call.scope.services.redact);
    } catch {
      return {};
    }
  }

  /** The handler has ended: what it left behind no longer speaks for the call. */
  end(): void {
    this.#over = true;
  }

  get aborted(): boolean {
    return this.#abortReason !== undefined;
  }

  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(reason);
    this.#onAbort?.();
  }
}

function masked({ message, fraction, chunk }: Progress, redact: (text: string) => string): Progress {
  return {
    ...(typeof message === "string" && { message: redact(message) }),
    ...(typeof fraction === "number" && { fraction }),
    ...(typeof chunk === "string" && { chunk: redact(chunk) }),
  };
}
