import type { ScheduledJobs } from "../cron/types.js";
import type { Environment } from "../env/environment.js";
import type { SessionProcesses } from "../env/processes/types.js";
import type { ModelUsage } from "../model/model-client.js";
import type { CallResult } from "./call.js";
import type { Content } from "./content.js";
import type { Effect, EffectScope, Permission } from "./effects.js";
import type { Connect, Fetch, LookUp, OpenProxy } from "./fetch.js";
import type { BilledPurpose, HostCapabilities, HostCapability } from "./host-capabilities.js";
import type { JsonSchema } from "./json-schema.js";
import type { ToolResult } from "./result.js";

/** `true`, `false`, or a refusal that says why and what to do. */
export type Availability =
  | boolean
  | { readonly ok: boolean; readonly reason?: string; readonly fix?: string };

export type CheckFn = () => Availability | Promise<Availability>;

/** What a tool needs, as data, so that a list can tell whether it is ready without importing the tool. */
export interface Needs {
  /** The environment that sessions run in must be usable. */
  readonly environment?: boolean;
  /** Programs that must all be on PATH. */
  readonly programs?: readonly string[];
  /** Environment variables of which at least one must be set. */
  readonly anyEnv?: readonly string[];
  /** A browser that can be driven: on this machine, or the one that the settings name. */
  readonly browser?: boolean;
  /** npm packages that must be resolvable. */
  readonly packages?: readonly string[];
  /** Settings of which at least one must hold something. */
  readonly anySetting?: readonly string[];
  /** Models that a set-up command fetches (`moonshine`), all of them. */
  readonly models?: readonly string[];
  /** Ways to be ready, of which one is enough. */
  readonly anyOf?: readonly Needs[];
  /** Exact command or setting that would make the tool ready. */
  readonly fix?: string;
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** What a dynamic schema patch may look at: the tools that are really present in this view. */
export interface SchemaView {
  readonly names: ReadonlySet<string>;
  /** As `CallContext.settings`; absent where no session asks. */
  readonly settings?: Readonly<Record<string, unknown>>;
  has(name: string): boolean;
}

export interface Progress {
  readonly message?: string;
  readonly fraction?: number | undefined;
  /** A piece of output, for doors that stream. */
  readonly chunk?: string;
}

export interface SessionInfo {
  readonly id: string;
  readonly profile: string;
  /** Where relative names begin; commands of the session move it. */
  readonly cwd: string;
  /** The session's own folder, which does not move. */
  readonly workspace: string;
  /** False when a program makes the calls: it may repeat itself on purpose, a model may not. */
  readonly guarded?: boolean;
  /** Where the outermost session came in ("cli", "http", "cron" …): what it opens for scripts keeps it. */
  readonly door?: string;
  /** The tool that was called before this one, if any. */
  readonly previousTool?: string;
  /** Who outside wrote words that the session was given (addresses, servers, senders). */
  readonly heard?: readonly string[];
  /** When the outermost session began, in milliseconds since 1970: what is newer may be its own work. */
  readonly startedAt?: number;
}

export interface SecretAccess {
  get(name: string): string | undefined;
  /** Hides this value wherever results, logs and records would show it from now on. */
  add(name: string, value: string): void;
}

/** A tool as a script is told about it. */
export interface NestedTool extends ToolSchema {
  readonly output?: JsonSchema | undefined;
}

/**
 * Tools of the session, called from inside a call. Each call walks the whole path, under the authority of the
 * session and never more. Waits for a person inside of it do not count against the deadline of the outer call.
 */
export interface NestedTools {
  /** Sorted by name; only those that are ready. */
  readonly tools: readonly NestedTool[];
  /** Never rejects. Ends with the outer call at the latest. */
  call(
    request: { readonly name: string; readonly arguments: unknown },
    options?: { readonly signal?: AbortSignal; onProgress?(progress: Progress): void },
  ): Promise<CallResult>;
  /** Frees what the calls have left behind; the outer call must not end without it. */
  close(): void;
}

export interface NestedToolsOptions {
  /** Names in any spelling; those the session does not have are left out. All tools when left out. */
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  /** Told when a nested call begins and ends to wait for a person, so that a tool can stop its own clock. */
  onWaiting?(waiting: boolean): void;
}

/** Something that lives from call to call of one session: an interpreter, a watch. */
export interface Kept {
  close(): void | Promise<void>;
}

/** Everything a handler may use. Authority travels in here, never through globals. */
export interface CallContext {
  readonly callId: string;
  readonly toolName: string;
  readonly session: SessionInfo;
  /** Where the call stands in a trace, for what it asks others; `fetch` tells it by itself. Absent unless traces are collected. */
  readonly traceparent?: string | undefined;
  readonly environment: Environment;
  /** What the session has running in the background. */
  readonly processes: SessionProcesses;
  /** What runs by itself, at set times. */
  readonly jobs: ScheduledJobs;
  readonly signal: AbortSignal;
  /** Told when the call is cancelled, as `signal` would; costs nothing for the many calls that never are. */
  onAbort?(listener: () => void): void;
  readonly host: HostCapabilities;
  readonly secrets: SecretAccess;
  /** Settings of the tools.<name> and shared sections that this tool may read. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Folder for what a tool must keep on disk (spills, downloads); created on demand. */
  readonly cacheDir: string;
  /** The session's one object of this class, made on first use and closed with the session. */
  keep<T extends Kept>(kind: new () => T): T;
  /** Other tools of the session; close it before the call ends. */
  openTools(options?: NestedToolsOptions): NestedTools;
  /**
   * The only way to the network: the operator's rules, the policy of this call, limits, progress, cancellation and
   * the configured proxy apply by themselves. Failures are `ToolError`s ready to be told.
   */
  readonly fetch: Fetch;
  /** The same for what is no web request: an open connection to an address that the operator's rules allow. */
  readonly connect: Connect;
  /**
   * The same for a program that speaks to the network itself (a browser): a proxy that judges every connection, looks
   * names up and dials only what was judged. Whoever opens it closes it.
   */
  readonly openProxy: OpenProxy;
  /** Asks a name server; one that was named must be among the effects of the call. */
  readonly lookUp: LookUp;
  /**
   * A library that not everybody has, named in `needs.packages`: from this installation, else from what
   * `hermes setup tools` put into the Hermes home.
   */
  load<T>(name: string): Promise<T>;
  /** The folder of such a library, for those that run elsewhere: a script for a page, for one. */
  packageFolder(name: string): string;
  progress(update: Progress): void;
  /**
   * Counts what a model was asked on behalf of this call: its events and records tell of it, and with a purpose the bill of
   * the conversation, too. What `ctx.host.models` was asked is on the bill already.
   */
  reportUsage(usage: ModelUsage, model?: string, purpose?: BilledPurpose): void;
  /**
   * Why something that turned up while running (the next address of a redirect, for one) may not be touched
   * by this call; undefined when it may. What was declared beforehand need not be asked again.
   */
  refusal(effect: Effect): string | undefined;
  /** Ask the person; `undefined` when nobody answers. */
  ask(question: {
    readonly question: string;
    readonly choices?: readonly string[];
    /** The answer must not be shown while it is typed, nor written down. */
    readonly secret?: boolean;
  }): Promise<string | undefined>;
}

/** A worked example: shown in docs/tools and run by the tests, through the whole path. */
export interface ToolExample {
  /** What it does, as a person would say it: "Find where a function is defined". */
  readonly title: string;
  /** What lies in the working folder beforehand: name → text. */
  readonly files?: Readonly<Record<string, string>>;
  /** What the operator has configured: key → value. `{server}` as below, `{folder}` is the working folder, `{mail}` the address of a mail server. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Variables that are set. */
  readonly env?: Readonly<Record<string, string>>;
  /** What a web server answers: path → body. `{server}` in the arguments is its address. */
  readonly pages?: Readonly<Record<string, string>>;
  /** Calls of the same session that come first. */
  readonly before?: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
  readonly arguments: Readonly<Record<string, unknown>>;
  /** A part of the structured result that is the same on every machine. */
  readonly result: Readonly<Record<string, unknown>>;
  /** Programs without which it cannot be run; the tests then skip it with that reason. */
  readonly programs?: readonly string[];
}

export type HandlerOutput<Out> = Out | ToolResult<Out>;

/** A tool is a value. See docs/architecture.md for who reads which field. */
export interface Tool<Args = unknown, Out = unknown> {
  /** Canonical; `^[a-z][a-z0-9_]{0,63}$` for built-ins, up to 64 of `[A-Za-z0-9_.-]` for foreign tools. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly toolset: string;
  readonly description: string;
  readonly emoji?: string | undefined;
  readonly tags?: readonly string[];
  readonly parameters: JsonSchema;
  readonly output?: JsonSchema | undefined;
  /** What it may ever need; `effects` says what one call really does. */
  readonly permissions: readonly Permission[];
  /** Those no call does without: where one is denied, the tool is not offered. All of them when there are no `effects`. */
  readonly everyCallNeeds?: readonly Permission[] | undefined;
  /**
   * Pure: exactly what this call touches. Absent, each permission counts as touching "*" (reads read,
   * everything else writes), which is safe and slow: such calls never run side by side with writers.
   */
  effects?(args: Args, scope: EffectScope): readonly Effect[];
  /** Pure: which values of the arguments are secrets, by name; known before anything of the call is written down. */
  secretsIn?(args: Args): Readonly<Record<string, string>>;
  readonly checkFn?: CheckFn;
  readonly needs?: Needs;
  readonly requiresEnv?: readonly string[];
  readonly host?: HostCapability;
  /** True for tools that talk to the person: they run alone, in order. */
  readonly interactive?: boolean;
  /** True when it works with what the session's own process has (jobs, chats): no other machine can run it. */
  readonly stays?: boolean;
  /** True when repeating a call with the same arguments gives the same answer; feeds the loop guardrails. */
  readonly idempotent?: boolean | undefined;
  /** True when failing often is normal (a shell, a test run): guardrails warn but do not halt. */
  readonly tolerant?: boolean;
  /**
   * True when all it changes, it changes through `ctx.environment` (files, programs): it may begin while its intent is on
   * the way to the disk, since the first change waits for that.
   */
  readonly changesThroughEnvironment?: boolean;
  readonly timeoutMs?: number | ((args: Args) => number | undefined);
  /** Infinity for tools that page their own output. */
  readonly maxResultSizeChars?: number;
  dynamicSchemaOverrides?(view: SchemaView): Partial<ToolSchema>;
  /** Rewrites arguments of one alias to the canonical spelling (`url` → `urls[0]`), before validation. */
  readonly aliasArguments?: Readonly<
    Record<string, (args: Record<string, unknown>) => Record<string, unknown>>
  >;
  /** Runs after JSON-Schema validation when the author gave a Standard Schema (refinements, transforms). */
  readonly refine?: (args: unknown) => Refined<Args> | Promise<Refined<Args>>;
  handler(
    args: Args,
    ctx: CallContext,
  ): HandlerOutput<Out> | Promise<HandlerOutput<Out>> | AsyncIterable<Progress | HandlerOutput<Out>>;
  /** Pure: how a result is shown to a model and to a person; `human` may hold marks of `marked-text.ts`. */
  present?(out: Out): { readonly model: readonly Content[]; readonly human: string };
  /**
   * Pure: where text in the result came from, when others wrote it (an address, a sender); undefined when nobody
   * outside did. The model gets such text in a frame that names the source. Tools of servers are framed anyway.
   */
  untrustedSource?(args: Args, out: Out): string | undefined;
  /** Frees what the tool holds (BaseTool.teardown); called once when its registration ends. */
  dispose?(): void | Promise<void>;
  readonly examples?: readonly ToolExample[];
}

export type Refined<Args> =
  | { readonly ok: true; readonly value: Args }
  | { readonly ok: false; readonly issues: readonly { readonly path: string; readonly message: string }[] };

/** A tool whose argument and output types have been forgotten, as the registry holds it. */
// biome-ignore lint/suspicious/noExplicitAny: erased on purpose; decode guarantees the arguments fit the schema.
export type AnyTool = Tool<any, any>;
