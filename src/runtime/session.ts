import { setMaxListeners } from "node:events";
import { lockIdOf } from "../call/admit.js";
import { runBatch } from "../call/batch.js";
import { CallRecord, type RunOptions } from "../call/call-record.js";
import { type GuardrailMode, Guardrails } from "../call/guardrails.js";
import { PEEK, PREPARE, walkStages } from "../call/prepare.js";
import { runCall } from "../call/run-call.js";
import type { Approver, CallScope, Door } from "../call/scope.js";
import type { SessionState } from "../call/session-state.js";
import type { Environment } from "../env/environment.js";
import type { ProcessNotice } from "../env/processes/types.js";
import { inTask, type TaskState } from "../env/task.js";
import type { Vocabulary } from "../registry/aliases.js";
import { buildDefinitions, isReady, type ToolDefinition } from "../registry/definitions.js";
import type { Entry } from "../registry/entry.js";
import type { View } from "../registry/view.js";
import type { Assembly } from "../search/assemble.js";
import type { ToolSearchBridge } from "../search/bridge.js";
import type { CallResult, Decision, IncomingCall } from "../tool/call.js";
import type { Effect } from "../tool/effects.js";
import { type Failure, failure } from "../tool/errors.js";
import type { HostCapabilities } from "../tool/host-capabilities.js";
import type { CallContext, NestedTool, NestedTools, NestedToolsOptions, SessionInfo } from "../tool/tool.js";
import type { RuntimeProcesses } from "./processes.js";

export interface SessionOptions {
  /** Toolsets or single tools; everything that is configured when left out. */
  readonly toolsets?: readonly string[] | undefined;
  readonly disabledToolsets?: readonly string[] | undefined;
  readonly profile?: string | undefined;
  readonly environment?: string | undefined;
  /** Sessions with the same one share a container or cloud sandbox; all share one when left out. */
  readonly task?: string | undefined;
  /** Goes on for a session whose tools are outdated: same id, folder, variables and background processes. */
  readonly continues?: Session | undefined;
  /** The conversation that its calls belong to. */
  readonly conversation?: string | undefined;
  /** Where the session begins. */
  readonly cwd?: string | undefined;
  /** The folder that is the session's own; `cwd` when left out. */
  readonly workspace?: string | undefined;
  /** Answers approvals; without one, what needs approval is denied. */
  readonly approver?: Approver | undefined;
  /** The model that makes the calls, where one does; events tell of it. */
  readonly model?: string | undefined;
  /** How many tokens the model can read; decides when its tools are hidden behind a search. */
  readonly contextTokens?: number | undefined;
  /** What a machine of the cluster must be called to run its calls, where they run in one. */
  readonly labels?: readonly string[] | undefined;
  /** State an agent loop brings along (todos, memory …). */
  readonly host?: HostCapabilities | undefined;
  readonly ask?: CallContext["ask"] | undefined;
  readonly door?: Door | undefined;
  readonly guardrails?: GuardrailMode | undefined;
  /** True where nobody will say when a person has spoken: the guardrails tell turns by pauses. */
  readonly turnsUnseen?: boolean | undefined;
  /** Who outside wrote words that the model was given before this session began (earlier in a conversation, a stranger). */
  readonly heard?: readonly string[] | undefined;
}

/** A call as a program writes it: the id is made up when it is left out. */
export interface CallRequest {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: unknown;
  readonly malformed?: Failure;
}

/** What would happen to a call, found out without running or asking anything. */
export interface CallExplanation {
  readonly name: string;
  readonly ok: boolean;
  readonly error?: Failure | undefined;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  readonly repairs: readonly string[];
  readonly effects: readonly Effect[];
  readonly decision?: Decision | undefined;
}

/** What a session and its children have of the runtime besides their scope. */
export interface SessionParts {
  readonly vocabulary: Vocabulary;
  /** As it was opened, before it knew of a task. */
  readonly environment: Environment;
  readonly processes: RuntimeProcesses;
  /** Tool Search over the tools of one view. */
  bridgeFor(view: View): ToolSearchBridge;
  /** A place for what tools keep, which the runtime closes when the session did not. */
  openState(): SessionState;
}

/** One conversation's hold on the runtime: a fixed set of tools, one environment, one person to ask. */
export class Session {
  /** What the path gets of this session. @internal */
  readonly scope: CallScope;
  readonly #parts: SessionParts;
  readonly #bridge: ToolSearchBridge;
  #assembly: Promise<Assembly> | undefined;
  #minted = 0;
  #closed = false;

  constructor(scope: Omit<CallScope, "openTools" | "bridge">, parts: SessionParts) {
    this.#bridge = parts.bridgeFor(scope.view);
    this.scope = { ...scope, bridge: this.#bridge, openTools: (options) => this.#openTools(options) };
    this.#parts = parts;
  }

  get id(): string {
    return this.scope.info.id;
  }

  get cwd(): string {
    return this.scope.info.cwd;
  }

  get profile(): string {
    return this.scope.info.profile;
  }

  get environment(): string {
    return this.scope.environment.name;
  }

  get view(): View {
    return this.scope.view;
  }

  /** One call through the whole path. Never rejects: whatever happens is in the result. */
  call(request: CallRequest, options: RunOptions = {}): Promise<CallResult> {
    this.#assertOpen();
    allowManyListeners(options.signal);
    return runCall(this.#incoming(request), this.scope, options);
  }

  /** The calls of one message: side by side where effects allow, results in source order. */
  callAll(requests: readonly CallRequest[], options: RunOptions = {}): Promise<readonly CallResult[]> {
    this.#assertOpen();
    allowManyListeners(options.signal);
    return runBatch(
      requests.map((request) => this.#incoming(request)),
      this.scope,
      options,
    );
  }

  /** What a model is told about this session's tools; the same bytes for the whole session. */
  async definitions(): Promise<readonly ToolDefinition[]> {
    return (await this.assembly()).definitions;
  }

  /** The same, with what is hidden behind Tool Search and why. */
  assembly(): Promise<Assembly> {
    this.#assembly ??= this.#assemble();
    return this.#assembly;
  }

  async #assemble(): Promise<Assembly> {
    const { view, services } = this.scope;
    const definitions = await buildDefinitions({
      entries: view.entries.values(),
      statuses: view.statuses,
      vocabulary: this.#parts.vocabulary,
      log: services.log,
      settingsFor: services.settingsFor,
    });
    return this.#bridge.assemble(definitions);
  }

  /** The decision a call would meet, by the very stages a real call walks. */
  async explainCall(request: CallRequest): Promise<CallExplanation> {
    const call = new CallRecord(this.#incoming(request), this.scope);
    const error = await walkStages(call, PREPARE);
    return {
      name: call.name,
      ok: error === undefined,
      error,
      args: call.entry === undefined ? undefined : call.args,
      repairs: call.repairs,
      effects: call.effects,
      decision: call.decision,
    };
  }

  /** What a call would touch, by its tool's own word: no hook is told, nobody is asked and nothing runs. */
  async effectsOf(request: CallRequest): Promise<readonly Effect[]> {
    const call = new CallRecord(this.#incoming(request), this.scope);
    await walkStages(call, PEEK);
    return call.effects;
  }

  /**
   * A session for work this one hands on (a script, a subagent). It sees at most what this one sees, under
   * the same profile, environment and approver.
   */
  openChild(
    options: {
      readonly tools?: readonly string[];
      /** A further profile: the child may do only what both allow. */
      readonly profile?: string;
      readonly door?: Door;
      readonly insideCall?: string;
      /** A program gets the results, not a model. */
      readonly forProgram?: boolean;
      /** Told when a call of the child begins and ends to wait for a person. */
      readonly onWaiting?: ((waiting: boolean) => void) | undefined;
      /** State of its own agent loop; the parent's when left out. */
      readonly host?: HostCapabilities | undefined;
      /** A conversation of its own, begun from the parent's. */
      readonly conversation?: string | undefined;
    } = {},
  ): Session {
    const scope = this.scope;
    const view =
      options.tools === undefined
        ? scope.view
        : scope.view.narrowedTo(new Set(options.tools.map(canonicalIn(scope.view))));
    const task = scope.task.copy();
    const { info } = scope;
    const id = `${info.id}.${crypto.randomUUID().slice(0, 8)}`;
    return new Session(
      {
        ...scope,
        info: sessionInfo({
          id,
          profile: options.profile === undefined ? info.profile : `${info.profile}+${options.profile}`,
          workspace: info.workspace,
          task,
          guarded: info.guarded === true,
          door: info.door ?? scope.door,
        }),
        conversations:
          options.conversation === undefined
            ? scope.conversations
            : [...scope.conversations, options.conversation],
        task,
        environment: inTask(this.#parts.environment, {
          state: task,
          workspace: info.workspace,
          session: { id: scope.rootId, visible: [scope.services.spill.dir] },
        }),
        processes: this.#parts.processes.of(id),
        door: options.door ?? "subagent",
        view,
        // A yes given to a child is not handed back to its parent.
        grants: new Set(scope.grants),
        guardrails: new Guardrails(scope.guardrails.mode, { turnsUnseen: scope.guardrails.turnsUnseen }),
        state: this.#parts.openState(),
        host: options.host ?? scope.host,
        forProgram: options.forProgram ?? scope.forProgram,
        onWaiting: options.onWaiting ?? scope.onWaiting,
        ask: waitingFor(scope.ask, options.onWaiting),
        ancestors:
          options.insideCall === undefined
            ? scope.ancestors
            : [...scope.ancestors, lockIdOf(scope, options.insideCall)],
      },
      this.#parts,
    );
  }

  /** The same session with other services; for tests of single services. @internal */
  withServices(services: CallScope["services"]): Session {
    return new Session({ ...this.scope, services }, this.#parts);
  }

  /**
   * The same session with somebody else to ask: where each request brings its own way to the person, a question
   * goes where its call came from. Everything else is shared.
   */
  withPerson(person: Pick<SessionOptions, "approver" | "ask">): Session {
    const { approver, ask = async () => undefined } = person;
    // The catalogue behind Tool Search is made once for a session, not for each of its requests.
    const bridgeFor = (view: View) => (view === this.view ? this.#bridge : this.#parts.bridgeFor(view));
    return new Session({ ...this.scope, approver, ask }, { ...this.#parts, bridgeFor });
  }

  /** What has come up about background processes since this was last asked; each notice is given once. */
  takeNotices(): readonly ProcessNotice[] {
    const here = this.scope.processes.takeNotices();
    const elsewhere = this.scope.services.place?.takeNotices(this.id);
    return elsewhere === undefined ? here : [...here, ...elsewhere];
  }

  /** Tells the loop guardrails that the person has spoken. */
  beginTurn(): void {
    this.scope.guardrails.beginTurn();
    this.scope.reviews.denials = 0;
  }

  /** What it has running in the background ends with it, unless it was handed off. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    void this.#endPrograms();
    this.scope.services.place?.endSession(this.id);
    void this.scope.state.close();
  }

  /** Programs first: they may still use what the session has in its environment. Children use that of their root. */
  async #endPrograms(): Promise<void> {
    await this.#parts.processes.endSession(this.id);
    if (this.id === this.scope.rootId) this.#parts.environment.endSession?.(this.id);
  }

  /** What a call of this session gets when it calls other tools itself. */
  #openTools(options: NestedToolsOptions & { readonly insideCall: string }): NestedTools {
    const { entries, statuses } = this.scope.view;
    const canonical = canonicalIn(this.scope.view);
    const only = options.only === undefined ? undefined : new Set(options.only.map(canonical));
    const except = new Set(options.except?.map(canonical));
    const chosen = [...entries.values()].filter(
      (entry) => only?.has(entry.name) !== false && !except.has(entry.name) && isReady(statuses, entry),
    );
    const child = this.openChild({
      tools: chosen.map(({ name }) => name),
      door: "script",
      forProgram: true,
      insideCall: options.insideCall,
      onWaiting: options.onWaiting,
    });
    return {
      tools: chosen.map(nestedTool),
      call: (request, given = {}) => child.call(request, given),
      close: () => child.close(),
    };
  }

  #assertOpen(): void {
    if (this.#closed)
      throw new Error(`session ${this.id} is closed; open a new one with runtime.openSession()`);
  }

  #incoming(request: CallRequest): IncomingCall {
    if (typeof request !== "object" || request === null) return this.#unreadable("a call must be an object");
    const { name, arguments: given = {}, malformed } = request;
    const id = typeof request.id === "string" ? request.id : this.#mint();
    if (typeof name !== "string")
      return this.#unreadable(`a tool name must be a string, not ${typeof name}`, id);
    return malformed === undefined
      ? { id, name, arguments: given }
      : { id, name, arguments: given, malformed };
  }

  #unreadable(why: string, id = this.#mint()): IncomingCall {
    return { id, name: "", arguments: {}, malformed: failure("bad_request", why) };
  }

  #mint(): string {
    this.#minted += 1;
    return `call_${this.#minted}`;
  }
}

/** One object for a session's whole life; its folder moves with its commands. */
export function sessionInfo(parts: {
  readonly id: string;
  readonly profile: string;
  readonly workspace: string;
  readonly task: TaskState;
  readonly guarded: boolean;
  readonly door: string;
}): SessionInfo {
  const { id, profile, workspace, task, guarded, door } = parts;
  return {
    id,
    profile,
    workspace,
    guarded,
    door,
    startedAt: task.startedAt,
    get cwd() {
      return task.cwd;
    },
    get heard() {
      return task.heard;
    },
  };
}

/** One signal may interrupt thousands of calls; that is no leak, and Node should not warn about it. */
function allowManyListeners(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal);
}

function nestedTool({ name, description, parameters, output }: Entry): NestedTool {
  return { name, description, parameters, output };
}

/** A question to the person, whose answer takes the time it takes. */
function waitingFor(
  ask: CallContext["ask"],
  onWaiting: ((waiting: boolean) => void) | undefined,
): CallContext["ask"] {
  if (onWaiting === undefined) return ask;
  return async (question) => {
    onWaiting(true);
    try {
      return await ask(question);
    } finally {
      onWaiting(false);
    }
  };
}

function canonicalIn(view: View): (name: string) => string {
  return (name) => {
    const found = view.find(name);
    return "code" in found ? name : found.entry.name;
  };
}
