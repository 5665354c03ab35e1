import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { HookName, HookOptions, HookTypes } from "../../call/hooks.js";
import type { Approver } from "../../call/scope.js";
import { didYouMean } from "../../config/did-you-mean.js";
import type { CustomToolset, LoadedConfig } from "../../config/types.js";
import type { ModelClient } from "../../model/model-client.js";
import type { Logger } from "../../observe/log.js";
import { toolFromRegistration } from "../../registry/registry.js";
import { STATIC_TOOLSETS } from "../../registry/toolset-table.js";
import { DEFAULT_TOOLSET } from "../../tool/define.js";
import type { AnyTool } from "../../tool/tool.js";
import { toolsOfValue } from "../modules/module-tools.js";
import type { Brings, PluginManifest } from "./manifest.js";
import type { EnvironmentFactory, PluginCommand, PluginContext, PluginTool } from "./types.js";

export interface CollectedHook {
  readonly name: HookName;
  readonly run: HookTypes[HookName];
  readonly options: HookOptions;
}

/** What one run of `register` wants to bring. Nothing of it is in force yet. */
export class Collected {
  readonly tools = new Map<string, AnyTool>();
  readonly overrides = new Set<string>();
  readonly hooks: CollectedHook[] = [];
  readonly toolsets = new Map<string, CustomToolset>();
  readonly commands = new Map<string, PluginCommand>();
  readonly environments = new Map<string, EnvironmentFactory>();
  readonly approvers = new Map<string, () => Approver | Promise<Approver>>();
  readonly modelProviders = new Map<string, () => ModelClient | Promise<ModelClient>>();
  readonly closers: (() => void | Promise<void>)[] = [];
  /** The first thing that was refused. Code that catches the error does not get away with it. */
  refusal: Error | undefined;
  readonly #manifest: PluginManifest;
  #ended = false;

  constructor(manifest: PluginManifest) {
    this.#manifest = manifest;
  }

  /** `register` is over: what comes later comes too late. */
  end(): void {
    this.#ended = true;
  }

  /** A hook that no call may pass without was promised: a plugin that does not bring it leaves nobody guarding. */
  assertGuards(): void {
    const missing = this.#manifest.closedHooks.find((name) => !this.hooks.some((hook) => hook.name === name));
    if (missing === undefined) return;
    throw new Error(
      `the manifest promises the hook ${missing} with on_failure: closed, and register did not bring it; call ctx.hook`,
    );
  }

  contextFor(plugin: { readonly config: LoadedConfig; readonly log: Logger }): PluginContext {
    const { name, requiresEnv } = this.#manifest;
    const { config, log } = plugin;
    const own = Object.hasOwn(config.values.tool_settings, name) ? config.values.tool_settings[name] : {};
    return {
      name,
      log,
      env: Object.fromEntries(requiresEnv.map((variable) => [variable, config.env[variable] ?? ""])),
      config: typeof own === "object" && own !== null ? (own as Record<string, unknown>) : {},
      get dataDir() {
        const folder = join(config.paths.home, "plugin-data", name);
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        return folder;
      },
      tool: (tool, options) => this.#guarded(() => this.#addTool(tool, options?.override === true)),
      hook: (hook, run, options = {}) =>
        this.#guarded(() => {
          const declared = this.#declared("hooks", hook);
          requireFunction(run, `hook ${hook}`);
          const closed = this.#manifest.closedHooks.includes(declared);
          // The manifest may have promised that a failure blocks; code cannot take that back.
          const onFailure = closed ? "closed" : (options.onFailure ?? "open");
          this.hooks.push({ name: hook, run, options: { ...options, onFailure, name: `${name}/${hook}` } });
        }),
      toolset: (toolset, definition) =>
        this.#guarded(() => {
          this.#declared("toolsets", toolset);
          this.toolsets.set(toolset, {
            description: definition.description ?? "",
            tools: definition.tools ?? [],
            includes: definition.includes ?? [],
          });
        }),
      command: (command, definition) =>
        this.#guarded(() => {
          requireFunction(definition?.run, `command ${command}`);
          this.commands.set(this.#declared("commands", command), definition);
        }),
      environment: (environment, open) => this.#keep("environments", environment, [this.environments, open]),
      approver: (approver, make) => this.#keep("approvers", approver, [this.approvers, make]),
      modelProvider: (provider, make) => this.#keep("model_providers", provider, [this.modelProviders, make]),
      onClose: (close) =>
        this.#guarded(() => {
          requireFunction(close, "onClose");
          this.closers.push(close);
        }),
    };
  }

  #keep<Value>(kind: Brings, name: string, [map, value]: [Map<string, Value>, Value]): void {
    this.#guarded(() => {
      requireFunction(value, `${kind.replace(/s$/, "").replace("_", " ")} ${name}`);
      map.set(this.#declared(kind, name), value);
    });
  }

  #addTool(given: PluginTool, override: boolean): void {
    const tools = isRegistration(given)
      ? [toolFromRegistration({ ...given, toolset: given.toolset ?? DEFAULT_TOOLSET })]
      : toolsOfValue(given);
    if (tools.length === 0) {
      throw new TypeError("ctx.tool takes what defineTool returns, a registration record, or a tool class");
    }
    for (const tool of tools) {
      this.#declared("tools", tool.name);
      this.#checkPermissions(tool);
      if (this.tools.has(tool.name)) throw new Error(`the tool ${tool.name} is registered twice`);
      this.tools.set(tool.name, withToolset(tool, this.#toolsetOf(tool)));
      if (override || (isRegistration(given) && given.override === true)) this.overrides.add(tool.name);
    }
  }

  #toolsetOf({ toolset }: AnyTool): string {
    const own = `plugin-${this.#manifest.name}`;
    return toolset === DEFAULT_TOOLSET || toolset === own ? own : this.#declared("toolsets", toolset);
  }

  #checkPermissions({ name, permissions }: AnyTool): void {
    const { capabilities } = this.#manifest;
    const missing = permissions.find(
      (wanted) => !capabilities.includes(wanted) && !capabilities.includes(`${wanted.split(":")[0]}:*`),
    );
    if (missing === undefined) return;
    throw new Error(
      `the tool ${name} asks for ${missing}, which capabilities in the manifest does not list; add it there`,
    );
  }

  /** The person was shown the manifest and nothing else, so nothing else may come. */
  #declared(kind: Brings, name: string): string {
    const names = this.#manifest.brings[kind];
    if (kind === "toolsets" && STATIC_TOOLSETS.has(name)) {
      throw new Error(`the toolset ${name} is a built-in one; choose another name`);
    }
    // The registry lets these take each other's tools.
    if (kind === "toolsets" && /^(?:mcp|plugin)-/.test(name) && name !== `plugin-${this.#manifest.name}`) {
      throw new Error(`the toolset ${name} has the name of another source; choose one that begins otherwise`);
    }
    if (names.includes(name)) return name;
    const guess = didYouMean(name, names);
    throw new Error(
      `${name} is not in provides_${kind} of the manifest${guess === undefined ? "; add it there" : `; ${guess}`}`,
    );
  }

  #guarded(work: () => void): void {
    try {
      if (this.#ended) throw new Error("register has ended; register everything before it returns");
      work();
    } catch (error) {
      this.refusal ??= error as Error;
      throw error;
    }
  }
}

type RegistrationRecord = Extract<PluginTool, { readonly schema: unknown }>;

function isRegistration(tool: PluginTool): tool is RegistrationRecord {
  return typeof tool === "object" && tool !== null && "schema" in tool && "handler" in tool;
}

/** A copy, since what the author holds may still change; methods of its class stay reachable. */
function withToolset(tool: AnyTool, toolset: string): AnyTool {
  return Object.assign(Object.create(Object.getPrototypeOf(tool) as object | null), tool, { toolset });
}

function requireFunction(value: unknown, what: string): void {
  if (typeof value !== "function") throw new TypeError(`${what} needs a function`);
}
