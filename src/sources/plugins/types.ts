import type { HookName, HookOptions, HookTypes } from "../../call/hooks.js";
import type { Approver } from "../../call/scope.js";
import type { CustomToolset } from "../../config/types.js";
import type { Environment } from "../../env/environment.js";
import type { RemoteEnvironment, RemoteEnvironmentOptions } from "../../env/remote/remote-environment.js";
import type { ModelClient } from "../../model/model-client.js";
import type { Logger } from "../../observe/log.js";
import type { Registration, RegistrationExtras } from "../../registry/registry.js";
import type { BaseTool } from "../../tool/base-tool.js";
import type { CallResult } from "../../tool/call.js";
import type { AnyTool } from "../../tool/tool.js";

/** What `ctx.tool` takes: a tool value, the registration record, or a tool class. */
export type PluginTool =
  | AnyTool
  | (Omit<Registration, "toolset"> & { readonly toolset?: string } & RegistrationExtras)
  | BaseTool
  | (new () => BaseTool);

/** What `register` gets. Nothing of it counts before `register` has returned; then all of it does at once. */
export interface PluginContext {
  readonly name: string;
  /** Adds a tool; `override` lets it take the place of one that another toolset has. */
  tool(tool: PluginTool, options?: { readonly override?: boolean }): void;
  hook<Name extends HookName>(name: Name, run: HookTypes[Name], options?: Omit<HookOptions, "name">): void;
  toolset(name: string, definition: Partial<CustomToolset>): void;
  /** `hermes NAME …`. */
  command(name: string, command: PluginCommand): void;
  /** A place where tools act: `--env NAME`, `terminal.env`. */
  environment(name: string, open: EnvironmentFactory): void;
  /** Somebody to ask before dangerous calls: `approvals.approver`. Made when it is first needed. */
  approver(name: string, make: () => Approver | Promise<Approver>): void;
  /** A model to ask. Made when it is first needed. */
  modelProvider(name: string, make: () => ModelClient | Promise<ModelClient>): void;
  readonly log: Logger;
  /** The variables that the manifest names in `requires_env`, and no others. */
  readonly env: Readonly<Record<string, string>>;
  /** The section `tool_settings.<plugin>` of the configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** A folder for what the plugin keeps. Its own folder is no place for it: a changed file there needs a new yes. */
  readonly dataDir: string;
  /** Called once when the plugin goes and the last call of its tools is over. */
  onClose(close: () => void | Promise<void>): void;
}

export type RegisterPlugin = (ctx: PluginContext) => void | Promise<void>;

/** Gives `register` its types: `export default definePlugin((ctx) => { … })`. */
export function definePlugin(register: RegisterPlugin): RegisterPlugin {
  return register;
}

export interface PluginCommand {
  readonly description: string;
  /** Flags as they are typed: `"--city <name>"` takes a value, `"-l, --long"` does not. */
  readonly options?: Readonly<Record<string, string>>;
  /** What the words behind the command mean, for `--help`: `"[city]"`. */
  readonly usage?: string;
  /** A number is the exit code. */
  run(invocation: CommandInvocation): unknown;
}

export interface CommandInvocation {
  readonly words: readonly string[];
  /** By the long name of the flag, in camelCase. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly cwd: string;
  /** `--json` was given: then `value` is to be called once and `print` says nothing. */
  readonly json: boolean;
  print(text: string): void;
  value(value: unknown): void;
  /** Calls a tool as the person's own session, through every check. */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<CallResult>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export type EnvironmentFactory = (request: EnvironmentRequest) => Environment | Promise<Environment>;

export interface EnvironmentRequest {
  readonly name: string;
  /** Sessions of different tasks should not see each other's files. */
  readonly task: string;
  /** Tells the person about a long step. */
  progress(message: string): void;
  /** One of the built-in environments as it is configured, to build upon. */
  builtin(name: string): Promise<Environment>;
  /** A whole environment from a way to start programs somewhere; see docs/environments.md. */
  remote(options: Omit<RemoteEnvironmentOptions, "name" | "kind">): Promise<RemoteEnvironment>;
}
