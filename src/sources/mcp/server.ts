import { aborted, pause } from "../../base/deadline.js";
import { deferred } from "../../base/deferred.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { ToolError } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import type { SourceHost } from "../types.js";
import { cleanLine } from "./clean-text.js";
import { type Connection, transportsOf } from "./connect.js";
import { ConnectError, explainConnectError } from "./connect-errors.js";
import type { Gate } from "./gate.js";
import { MissingVariable } from "./interpolate.js";
import { Keepalive } from "./keepalive.js";
import { eraOf, openConnection } from "./open-connection.js";
import type { ServerPins } from "./pins.js";
import { Sampling } from "./sampling.js";
import { ServerCalls } from "./server-calls.js";
import {
  INITIAL_TRIES,
  PARKED_MS,
  RECONNECT_TRIES,
  retryDelay,
  ServerHealth,
  StderrLines,
} from "./server-health.js";
import type { ServerPrograms } from "./server-programs.js";
import { ServerTools } from "./server-tools.js";
import type { DefinitionDrift, McpServerStatus, ShownChange } from "./status.js";
import { ToolRefresh } from "./tool-refresh.js";

export interface ServerOptions {
  readonly name: string;
  /** As it is written; variables are filled in at each connection. */
  readonly config: McpServerConfig;
  readonly host: SourceHost;
  readonly pins: ServerPins;
  readonly gate: Gate;
  readonly programs: ServerPrograms;
}

/** A call waits for a server that is tried again within this time. */
const WORTH_WAITING_MS = 5_000;
const RAN_WELL_MS = 60_000;

/** One MCP server: its connection, its tools, and what becomes of it when something goes wrong. */
export class McpServer {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #options: ServerOptions;
  readonly #stderr: StderrLines;
  readonly #tools: ServerTools;
  readonly #calls: ServerCalls;
  readonly #health: ServerHealth;
  readonly #sampling: Sampling | undefined;
  #connectedMs: number | undefined;
  #connection: Connection | undefined;
  #refresh: ToolRefresh | undefined;
  #keepalive: Keepalive | undefined;
  #trying: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;
  #failures = 0;
  #restarts = -1;
  #wasReady = false;
  #readyAt = 0;
  readonly #ending = new AbortController();
  readonly #firstTry = deferred<void>();

  constructor(options: ServerOptions) {
    this.name = options.name;
    this.config = options.config;
    this.#options = options;
    this.#health = new ServerHealth(options.name, options.host);
    if (options.config.sampling) this.#sampling = new Sampling(() => options.host.config.values.mcp);
    this.#stderr = new StderrLines((text) => options.host.redact(text));
    this.#calls = new ServerCalls({
      server: options.name,
      limits: {
        timeoutMs: options.config.timeout * 1000,
        maxTimeoutMs: options.config.max_timeout * 1000,
      },
      connection: (context) => this.#connectionNow() ?? this.#waitForConnection(context.signal),
      onAnswer: () => {
        this.#failures = 0;
      },
      onSilence: () => this.#keepalive?.silent(),
      onDoubt: () => void this.#keepalive?.look(),
      onLost: (connection, how) => void this.#lost(connection, how),
    });
    this.#tools = new ServerTools({
      ...options,
      server: options.name,
      remote: this.#calls,
      onAccepted: () => this.#settleState(),
    });
  }

  /** Brings in remembered tools, in the place of any that a server of this name brought before, and begins to connect. */
  start(): void {
    if (!this.config.enabled) {
      this.#tools.withdraw();
      this.#health.become("disabled", { reason: "switched off in the configuration" });
      this.#firstTry.resolve();
      return;
    }
    if (this.#tools.registerRemembered()) this.#firstTry.resolve();
    else this.#tools.withdraw();
    this.#patience = setTimeout(() => this.#firstTry.resolve(), this.config.connect_timeout * 1000).unref();
    void this.#try();
  }

  /** Resolves when its tools are known, or when it is clear that they will not be soon. */
  get settled(): Promise<void> {
    return this.#firstTry.promise;
  }

  status(): McpServerStatus {
    const client = this.#connection?.client;
    const protocol = client?.getNegotiatedProtocolVersion();
    const info = client?.getServerVersion();
    const [transport = "stdio"] = transportsOf(this.config);
    return {
      name: this.name,
      ...this.#health.report,
      transport: this.#connection?.transport ?? transport,
      protocol,
      server_info: info && { name: cleanLine(info.name, 100), version: cleanLine(info.version, 50) },
      tools: this.#tools.names,
      quarantined: this.#tools.quarantined,
      changed: this.#tools.changed,
      stderr: this.#stderr.lines,
      connected_ms: this.#connectedMs,
      restarts: Math.max(0, this.#restarts),
    };
  }

  drift(): readonly DefinitionDrift[] {
    return this.#tools.drift;
  }

  approveChange(which?: string | ShownChange): readonly string[] {
    return this.#tools.approveChange(which);
  }

  /** Connects anew, whatever the state. Resolves when that has worked or failed. */
  async reconnect(): Promise<void> {
    if (this.#ending.signal.aborted || !this.config.enabled) return;
    this.#failures = 0;
    // A connection that is just being made is a new one; cutting it off would only count as a failure.
    if (this.#trying === undefined) await this.#disconnect();
    await this.#try();
  }

  /** Looks whether it answers now. */
  async test(): Promise<McpServerStatus> {
    if (this.#trying !== undefined) await this.#trying;
    else if (this.#connection === undefined) await this.reconnect();
    else if (await this.#keepalive?.look()) await this.#refresh?.now();
    return this.status();
  }

  get isBusy(): boolean {
    return this.#calls.running.size > 0;
  }

  /** The settings were read anew: what was missing may be there now. */
  settingsRead(): void {
    if (this.#connection === undefined && this.#trying === undefined && this.config.enabled) void this.#try();
  }

  /** Ends it. Its tools stay registered when somebody else is about to take their place. */
  async close(options: { readonly keepTools?: boolean } = {}): Promise<void> {
    this.#leave(options);
    await this.#disconnect();
    await this.#trying;
    await this.#disconnect();
  }

  /** Ends it when the calls that run on it are over; others are not taken any more. */
  async retire(options: { readonly keepTools?: boolean }): Promise<void> {
    this.#leave(options);
    await this.#calls.idle();
    await this.close({ keepTools: true });
  }

  #leave(options: { readonly keepTools?: boolean }): void {
    this.#ending.abort();
    this.#firstTry.resolve();
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#patience);
    this.#keepalive?.stop();
    this.#refresh?.stop();
    if (options.keepTools !== true) this.#tools.withdraw();
  }

  #try(): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#health.nextRetry = undefined;
    this.#trying ??= this.#options.gate
      .through(() => this.#connect(), this.#ending.signal)
      .finally(() => {
        this.#trying = undefined;
        this.#firstTry.resolve();
      });
    return this.#trying;
  }

  /** One attempt. Never rejects. */
  async #connect(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#health.become("connecting", {});
    const startedAt = performance.now();
    let connection: Connection | undefined;
    try {
      connection = await openConnection({
        ...this.#options,
        running: this.#calls.running,
        sampling: this.#sampling,
        signal: this.#ending.signal,
        onStderr: (chunk) => this.#stderr.add(chunk),
      });
      await this.#takeUp(connection);
      this.#connectedMs = Math.round(performance.now() - startedAt);
      this.#wasReady = true;
      this.#readyAt = performance.now();
      this.#restarts += 1;
      this.#settleState();
    } catch (error) {
      this.#forget(connection);
      await connection?.close();
      this.#failed(error);
    }
  }

  async #takeUp(connection: Connection): Promise<void> {
    const { host, pins } = this.#options;
    this.#connection = connection;
    const refresh = new ToolRefresh({
      server: this.name,
      connection,
      timeoutMs: this.config.connect_timeout * 1000,
      log: host.log,
      take: (list, from) => {
        this.#tools.update(list, from);
        if (this.#health.state !== "connecting") this.#settleState();
      },
    });
    this.#refresh = refresh;
    try {
      await refresh.begin();
    } catch (error) {
      // What was remembered about its protocol may be out of date.
      if (pins.memory?.era !== undefined)
        pins.remember({ ...pins.memory, era: undefined, discover: undefined });
      // A server whose protocol is known is first spoken to here, so this may be where it asks for a login.
      throw explainConnectError(error, { server: this.name, config: this.config, host: this.#options.host });
    }
    pins.remember({ ...eraOf(connection.client), ...refresh.offers });
    this.#keepalive = new Keepalive({
      client: connection.client,
      everyMs: host.config.values.mcp.keepalive_seconds * 1000,
      isBusy: () => this.isBusy,
      onLate: () => this.#settleState("it did not answer when it was asked whether it is there"),
      onBack: () => this.#settleState(),
      onDead: () => void this.#lost(connection, "it no longer answers"),
    });
    void connection.closed.then((how) => this.#lost(connection, how));
  }

  async #lost(connection: Connection, how: string): Promise<void> {
    if (this.#connection !== connection) return;
    this.#forget(connection);
    void connection.close();
    if (this.#ending.signal.aborted) return;
    // A server that ran well for a while has earned a new count.
    if (performance.now() - this.#readyAt > RAN_WELL_MS) this.#failures = 0;
    this.#failed(new ConnectError(how));
  }

  #forget(connection: Connection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return;
    this.#keepalive?.stop();
    this.#refresh?.stop();
    this.#connection = undefined;
    this.#keepalive = undefined;
    this.#refresh = undefined;
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#forget(connection);
    await connection?.close();
  }

  #failed(error: unknown): void {
    if (this.#ending.signal.aborted) return;
    this.#failures += 1;
    const [words, fix] =
      error instanceof ConnectError ? [error.message, error.fix] : [describeThrown(error).message, undefined];
    const reason = this.#options.host.redact(cleanLine(words, 500));
    const explained = { reason, fix };
    if (error instanceof MissingVariable) {
      this.#health.become("failed", { reason, fix: `set ${error.variable} in the environment or in .env` });
      return;
    }
    if (error instanceof ConnectError && error.needsPerson) {
      this.#retryIn(PARKED_MS);
      this.#health.become("failed", explained);
      return;
    }
    const tries = this.#wasReady ? RECONNECT_TRIES : INITIAL_TRIES;
    const gaveUp = this.#failures >= tries + (this.#wasReady ? 1 : 0);
    this.#retryIn(gaveUp ? PARKED_MS : retryDelay(this.#failures));
    this.#health.become(gaveUp ? "parked" : "failed", explained);
  }

  #retryIn(ms: number): void {
    this.#health.nextRetry = Date.now() + ms;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#try(), ms);
    this.#retryTimer.unref();
  }

  #settleState(late?: string): void {
    if (this.#connection === undefined) return;
    const left = this.#tools.quarantined.length;
    const changed = this.#tools.changed.length;
    const cut = this.#refresh?.cut;
    const reason =
      late ??
      cut ??
      (left > 0 ? `${left} of its tools cannot be used` : undefined) ??
      (changed > 0 ? `${changed} of its tools changed since they were approved` : undefined);
    const fix = changed > 0 && late === undefined ? `hermes mcp approve ${this.name}` : undefined;
    this.#health.become(reason === undefined ? "ready" : "degraded", { reason, fix });
  }

  #connectionNow(): Connection | undefined {
    return this.#health.state === "connecting" ? undefined : this.#connection;
  }

  async #waitForConnection(signal: AbortSignal): Promise<Connection> {
    const until = performance.now() + this.config.connect_timeout * 1000;
    while (!signal.aborted && !this.#ending.signal.aborted && performance.now() < until) {
      if (this.#trying !== undefined) await Promise.race([this.#trying, aborted(signal)]);
      else {
        const soon =
          this.#health.nextRetry === undefined
            ? Number.POSITIVE_INFINITY
            : this.#health.nextRetry - Date.now();
        if (this.#health.state === "parked" || soon > WORTH_WAITING_MS) break;
        await pause(Math.max(5, soon), signal);
      }
      const connection = this.#connectionNow();
      if (connection !== undefined) return connection;
    }
    if (signal.aborted) throw new ToolError("the call was cancelled", { code: "cancelled" });
    throw this.#health.notConnected();
  }
}
