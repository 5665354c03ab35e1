import type { McpServerConfig } from "./mcp-server.js";
import type { HermesPaths } from "./paths.js";
import type { KnownKey, ValueType } from "./schema.js";

export interface CustomToolset {
  readonly description: string;
  readonly tools: readonly string[];
  readonly includes: readonly string[];
}

/** An approval that was given for good, as it is written. Exactly one of the first three fields is there. */
export interface GrantEntry {
  /** Exactly this command, in any spelling that comes to the same. */
  readonly command?: string;
  /** A command with `*`, `?` or `[…]`. */
  readonly pattern?: string | undefined;
  /** A rule, or a kind of danger. */
  readonly rule?: string;
  /** A folder it is limited to, or `environment:NAME`. */
  readonly scope?: string;
  readonly added?: string;
  readonly expires?: string;
  readonly max_uses?: number;
  /** Who or what added it. */
  readonly origin?: string;
}

/** A bare text is a command, a pattern, a rule or a kind of danger. */
export type AllowlistEntry = string | GrantEntry;

type MapValue<Of> = Of extends "list"
  ? readonly string[]
  : Of extends "integer"
    ? number
    : Of extends "toolset"
      ? CustomToolset
      : Of extends "mcp_server"
        ? McpServerConfig
        : unknown;

type ValueOf<Type extends ValueType> = Type extends { kind: "boolean" }
  ? boolean
  : Type extends { kind: "enum"; values: readonly (infer Choice)[] }
    ? Choice
    : Type extends { kind: "integer" | "number" }
      ? number
      : Type extends { kind: "list" }
        ? readonly string[]
        : Type extends { kind: "grants" }
          ? readonly AllowlistEntry[]
          : Type extends { kind: "map"; of: infer Of }
            ? Readonly<Record<string, MapValue<Of>>>
            : string;

/** "a.b" with value V becomes { a: { b: V } }; all keys together make the config object. */
type Nested<Path extends string, Value> = Path extends `${infer Head}.${infer Rest}`
  ? { readonly [Name in Head]: Nested<Rest, Value> }
  : { readonly [Name in Path]: Value };

type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type NestedKeys<Key> = Key extends KnownKey ? Nested<Key["path"], ValueOf<Key["type"]>> : never;

/** The settings in force, as one nested object whose shape follows the key table. */
export type HermesConfig = Together<NestedKeys<KnownKey>>;

export type ConfigSource = "default" | "system" | "home" | "project" | "dotenv" | "env" | "flag" | "managed";

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Origin {
  readonly source: ConfigSource;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Environment variable or flag. */
  readonly name?: string | undefined;
  /** The file is broken now; this value is from its last version that could be read. */
  readonly lastGood?: boolean | undefined;
  /** For lists that add up: every place that contributed, lowest precedence first. */
  readonly from?: readonly Origin[];
}

export interface ConfigProblem {
  readonly severity: "error" | "warning";
  readonly source: ConfigSource;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly key?: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export interface ConfigFile {
  readonly path: string;
  readonly source: ConfigSource;
  /** `ignored`: a project file in a folder nobody has trusted. */
  readonly state: "read" | "last-good" | "broken" | "ignored";
}

export interface LoadedConfig {
  /** Milliseconds since 1970, from before the first file was read. */
  readonly loadedAt: number;
  readonly values: HermesConfig;
  readonly problems: readonly ConfigProblem[];
  readonly files: readonly ConfigFile[];
  readonly paths: HermesPaths;
  /** Where the machine's administrator writes: /etc/hermes. */
  readonly systemDir: string;
  /** The folder that holds `.hermes`, when the working directory is inside one. */
  readonly project?: { readonly folder: string; readonly trusted: boolean } | undefined;
  /** Process environment over the home .env, without what .env may not set. */
  readonly env: Readonly<Record<string, string>>;
  /** Names that came from .env; their values are secrets. */
  readonly dotenvNames: readonly string[];
  /**
   * A rule was written that could not be understood, and no last good version knows it either. What it
   * would have forbidden is unknown, so a runtime should refuse what it can refuse until it is fixed.
   */
  readonly policyIncomplete: boolean;
  /** Of a key, an entry of a map (`tool_settings.terminal`) or an item of a list (`tools.disabled.todo`). */
  origin(path: string): Origin;
}

/** `file:line:column: error: what (what to do)`, the form editors and terminals make clickable. */
export function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(":");
  const hint = problem.hint === undefined ? "" : ` (${problem.hint})`;
  return `${place === "" ? "" : `${place}: `}${problem.severity}: ${problem.message}${hint}`;
}
