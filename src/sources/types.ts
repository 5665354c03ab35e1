import type { Hooks } from "../call/hooks.js";
import type { CustomToolset, LoadedConfig } from "../config/types.js";
import type { EventBus } from "../observe/events.js";
import type { Logger } from "../observe/log.js";
import type { ToolRegistry } from "../registry/registry.js";
import type { Store } from "../store/store.js";
import type { SecretAccess } from "../tool/tool.js";

/** What a source may use of the runtime it brings tools to. */
export interface SourceHost {
  readonly config: LoadedConfig;
  readonly cwd: string;
  readonly registry: ToolRegistry;
  readonly hooks: Hooks;
  readonly events: EventBus;
  readonly log: Logger;
  readonly secrets: SecretAccess;
  redact(text: string): string;
  /** Toolsets that one source brings, in the place of those it brought before. */
  setToolsets?(source: string, toolsets: Readonly<Record<string, CustomToolset>>): void;
  /** A file whose change waits for a person's yes: what it brought before stays. */
  isHeld?(file: string): boolean;
  /** The database of the Hermes home, opened on first use. */
  store(): Promise<Store>;
}

export type SourceState =
  | "configured"
  | "connecting"
  | "ready"
  | "degraded"
  | "failed"
  | "parked"
  | "disabled";

/** How one source is doing, for people and programs. */
export interface SourceStatus {
  /** As in `registry.swap`: `mcp:github`, `yaml:/path/file.yaml`, `plugin:weather`. */
  readonly source: string;
  readonly state: SourceState;
  /** Names of the tools it brings now. */
  readonly tools: readonly string[];
  /** Why it is not ready, and what to do. */
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  /** Milliseconds since 1970: when it is tried again. */
  readonly next_retry?: number | undefined;
  /** Tools that were left out, each with its reason. */
  readonly quarantined: readonly { readonly name: string; readonly reason: string }[];
}

/** One kind of source: all MCP servers, all YAML files, all plugins. */
export interface ToolSource {
  /** `module`, `yaml`, `plugin` and `mcp` are built in; others may come. One source of a kind runs at a time. */
  readonly kind: string;
  /**
   * Brings in what can be had at once (files, remembered definitions) and begins to fetch the rest. Never rejects
   * for a single broken file or server: that is what `status` is for.
   */
  start(): Promise<void>;
  /** Resolves when everything has been tried once, also what was not known before. */
  settled(signal?: AbortSignal): Promise<void>;
  /** Takes up a changed configuration and changed files; what has not changed is left alone. */
  refresh(config: LoadedConfig): Promise<void>;
  status(): readonly SourceStatus[];
  close(): Promise<void>;
}
