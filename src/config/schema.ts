import { ENVIRONMENT_KINDS, ENVIRONMENT_SETTINGS } from "./environment-settings.gen.js";
import { GATEWAY_SETTINGS } from "./gateway-settings.js";
import { MODEL_SETTINGS } from "./model-settings.js";
import { TOOL_SETTINGS } from "./tool-settings.js";

/**
 * Every setting, once. Plain data: it is read at each start, also by `hermes --version`, so no validator
 * library may be needed to look at it.
 */

/** What a text must look like, and how that is said to a person. */
interface Like {
  readonly pattern: RegExp;
  readonly says: string;
}

export type ValueType =
  | { readonly kind: "boolean" }
  | {
      readonly kind: "enum";
      readonly values: readonly string[];
      /** What a bare YAML true or false means for this key. */
      readonly booleans?: { readonly true: string; readonly false: string };
    }
  | { readonly kind: "integer" | "number"; readonly min: number; readonly max: number }
  | { readonly kind: "string"; readonly like?: Like; readonly of?: "time zone" }
  /** `numbers`: a whole number is a text too, spelled as it is. */
  | { readonly kind: "list"; readonly numbers?: true }
  /** Texts or grants: see `GrantEntry`. */
  | { readonly kind: "grants" }
  | { readonly kind: "map"; readonly of: "list" | "integer" | "toolset" | "mcp_server" | "anything" };

/**
 * What a project file may do with a key. `unite`: a deny list; all layers are added up, in every file.
 * `lower`: only a smaller number. `subset`: only fewer entries. `narrow`: the same for a list whose emptiness
 * means "no limit". An order: only further to the right.
 */
export type ProjectRule =
  | "never"
  | "free"
  | "unite"
  | "lower"
  | "subset"
  | "narrow"
  | { readonly looseToStrict: readonly (string | boolean)[] };

export interface ConfigKey {
  readonly path: string;
  readonly type: ValueType;
  readonly default: unknown;
  readonly about: string;
  readonly project: ProjectRule;
  /** Decides what may run. Kept from the last good file, or strict, when a file cannot be understood. */
  readonly policy?: boolean;
  /** Environment name where it is not HERMES_ + the path. */
  readonly env?: string;
  readonly envAliases?: readonly string[];
  /** Name of the command-line flag, without dashes. */
  readonly flag?: string;
  /** Kept in .env, never shown, never quoted in a message. */
  readonly secret?: boolean;
  /** The home .env may not set it: it would move where data goes. */
  readonly notFromDotenv?: boolean;
  /** Wrong values are warnings and numbers are moved into range. */
  readonly lenient?: boolean;
  /** A bare value in place of the whole section sets this key: section path → what true and false mean. */
  readonly shorthand?: { readonly section: string; readonly true: string; readonly false: string };
}

const boolean = { kind: "boolean" } as const;
const list = { kind: "list" } as const;
const text = { kind: "string" } as const;
const seconds = { kind: "number", min: 0.001, max: 86_400 } as const;
const chars = { kind: "integer", min: 1, max: 1_000_000_000 } as const;
const name = {
  kind: "string",
  like: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    says: "a name of letters, digits, dot, dash and underscore",
  },
} as const;
/** NATS takes it as the beginning of its own names. */
const clusterName = {
  kind: "string",
  like: {
    pattern: /^[a-z][a-z0-9_]{0,31}$/,
    says: "a name of at most 32 lower-case letters, digits and underscores that begins with a letter",
  },
} as const;

/** Entries of `toolsets` that stand for every toolset. */
export const EVERYTHING: readonly string[] = ["all", "*"];

// biome-ignore format: one key per line keeps the table readable as a table.
export const CONFIG_KEYS = [
  { path: "tools.vocabulary", type: { kind: "enum", values: ["hermes", "book"] }, default: "hermes", project: "free", about: "Spelling of tool names shown to a model" },
  { path: "tools.disabled", type: list, default: [], project: "unite", policy: true, about: "Tools nobody may see or call" },
  { path: "tools.timeout_seconds", type: seconds, default: 300, project: "lower", flag: "timeout", about: "Longest time for one call, also for tools that have a time limit of their own; unless set, those keep theirs" },
  { path: "tools.check_timeout_seconds", type: seconds, default: 5, project: "lower", about: "Longest time for an availability check" },
  { path: "tools.max_workers", type: { kind: "integer", min: 1, max: 256 }, default: 8, project: "lower", about: "Calls of one batch that may run side by side" },
  { path: "tools.tool_search.enabled", type: { kind: "enum", values: ["auto", "on", "off"], booleans: { true: "on", false: "off" } }, default: "auto", project: "free", lenient: true, shorthand: { section: "tools.tool_search", true: "auto", false: "off" }, about: "Hide tools of MCP servers and plugins behind a search: when their definitions take too much room (`auto`), always, never; `tools.tool_search: true` is `auto`" },
  { path: "tools.tool_search.threshold_pct", type: { kind: "number", min: 0, max: 100 }, default: 10, project: "free", lenient: true, about: "Share of the model's context window, in per cent, that such definitions may take before `auto` hides them" },
  { path: "tools.tool_search.auto_defer", type: boolean, default: false, project: "free", lenient: true, about: "Also hide single tools that were called less than 3 times in the last 30 days, once 100 calls are on record; for sessions that are opened from then on" },
  { path: "tools.tool_search.search_default_limit", type: { kind: "integer", min: 1, max: 50 }, default: 5, project: "free", lenient: true, about: "Matches of a tool search when the model names no limit" },
  { path: "tools.tool_search.max_search_limit", type: { kind: "integer", min: 1, max: 50 }, default: 20, project: "free", lenient: true, about: "Most matches a tool search may return" },
  { path: "tools.tool_search.context_tokens", type: { kind: "integer", min: 0, max: 100_000_000 }, default: 0, project: "free", lenient: true, about: "Context window of the model, in tokens, where nobody else says it; 0: unknown, then 20,000 tokens of definitions are too much" },
  { path: "tools.tool_search.embeddings", type: { kind: "enum", values: ["auto", "off"], booleans: { true: "auto", false: "off" } }, default: "auto", project: "free", lenient: true, about: "Also compare meaning when searching tools, once `hermes setup search` has been run" },
  { path: "tools.tool_search.search_name", type: name, default: "tool_search", project: "never", lenient: true, about: "Name of the tool that searches" },
  { path: "tools.tool_search.describe_name", type: name, default: "tool_describe", project: "never", lenient: true, about: "Name of the tool that tells a definition" },
  { path: "tools.tool_search.call_name", type: name, default: "tool_call", project: "never", lenient: true, about: "Name of the tool that calls a hidden one" },
  { path: "toolsets", type: list, default: ["all"], project: "subset", policy: true, flag: "toolsets", about: "Toolsets a session gets; an empty list is none" },
  { path: "agent.disabled_toolsets", type: list, default: [], project: "unite", policy: true, about: "Toolsets that are always taken away" },
  { path: "custom_toolsets", type: { kind: "map", of: "toolset" }, default: {}, project: "never", about: "Own toolsets: name → `description`, `tools`, `includes`" },
  { path: "platform_toolsets", type: { kind: "map", of: "list" }, default: {}, project: "never", policy: true, about: "Toolsets per platform (`cli`, `telegram`, …)" },
  { path: "tool_settings", type: { kind: "map", of: "anything" }, default: {}, project: "never", about: "Settings of single tools: tool name → its own keys" },
  { path: "terminal.env", type: name, default: "local", project: "never", flag: "env", envAliases: ["TERMINAL_ENV"], about: `Where commands and file tools run: ${ENVIRONMENT_KINDS.map((kind) => `\`${kind}\``).join(", ")}, or an environment that a plugin brings` },
  { path: "terminal.timeout", type: seconds, default: 180, project: "lower", envAliases: ["TERMINAL_TIMEOUT"], about: "Seconds before a command without its own timeout is stopped" },
  { path: "terminal.max_foreground_timeout", type: seconds, default: 600, project: "lower", about: "Longest timeout a call may ask for in the foreground" },
  { path: "terminal.env_passthrough", type: list, default: [], project: "subset", policy: true, about: "Extra environment variables commands may see" },
  { path: "terminal.cwd", type: text, default: "", project: "never", envAliases: ["TERMINAL_CWD"], about: "Folder in which sessions begin in other environments than `local`; empty: the home folder there" },
  { path: "terminal.lifetime_seconds", type: { kind: "number", min: 0, max: 604_800 }, default: 300, project: "lower", envAliases: ["TERMINAL_LIFETIME_SECONDS"], about: "Seconds after which an environment that nobody uses is stopped; the next call starts it again. 0: never" },
  { path: "terminal.login_shell", type: { kind: "enum", values: ["auto", "on", "off"], booleans: { true: "on", false: "off" } }, default: "auto", project: "free", about: "Take variables from a login shell of the environment: `auto` does so over ssh" },
  { path: "terminal.max_processes", type: { kind: "integer", min: 1, max: 10_000 }, default: 64, project: "lower", about: "Background processes that are followed at the same time" },
  { path: "terminal.container_cpu", type: { kind: "number", min: 0.01, max: 1024 }, default: 1, project: "lower", envAliases: ["TERMINAL_CONTAINER_CPU"], about: "Processors a container may use" },
  { path: "terminal.container_memory", type: { kind: "integer", min: 16, max: 10_000_000 }, default: 5_120, project: "lower", envAliases: ["TERMINAL_CONTAINER_MEMORY"], about: "Memory of a container, in MB" },
  { path: "terminal.container_disk", type: { kind: "integer", min: 16, max: 100_000_000 }, default: 51_200, project: "lower", envAliases: ["TERMINAL_CONTAINER_DISK"], about: "Disk of a container, in MB, where the storage driver can limit it" },
  { path: "terminal.container_persistent", type: boolean, default: true, project: { looseToStrict: [true, false] }, policy: true, envAliases: ["TERMINAL_CONTAINER_PERSISTENT"], about: "Keep the workspace and home folder of containers and cloud sandboxes between runs" },
  { path: "terminal.container_network", type: boolean, default: true, project: { looseToStrict: [true, false] }, policy: true, about: "Let containers use the network" },
  { path: "terminal.container_mounts", type: list, default: [], project: "subset", policy: true, about: "Folders of this machine inside containers: `/here:/there` or `/here:/there:ro`" },
  { path: "terminal.container_cache", type: boolean, default: true, project: "never", about: "Give containers one common folder for package caches (npm, pip, …)" },
  ...ENVIRONMENT_SETTINGS,
  { path: "tool_output.max_bytes", type: chars, default: 50_000, project: "lower", about: "Terminal output kept, head and tail" },
  { path: "tool_budget.result_size_chars", type: chars, default: 100_000, project: "lower", about: "Size of one result before it spills to a file" },
  { path: "tool_budget.turn_size_chars", type: chars, default: 200_000, project: "lower", about: "Size of all results of one turn" },
  { path: "tool_budget.mcp_result_size_chars", type: chars, default: 50_000, project: "lower", about: "Size of one result of an MCP tool" },
  { path: "tool_budget.spill_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 1_000, project: "never", about: "Room, in MB, for all results that spilled to files; the oldest leave first, those of sessions that still run last" },
  { path: "tool_budget.overrides", type: { kind: "map", of: "integer" }, default: {}, project: "never", about: "Result size for single tools: tool name → characters" },
  { path: "file_read_max_chars", type: chars, default: 100_000, project: "lower", about: "Most characters one `read_file` returns" },
  { path: "archives.max_unpacked_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 1_024, project: "lower", about: "Most MB that `file_compress` unpacks from one archive" },
  { path: "archives.max_growth", type: { kind: "integer", min: 1, max: 100_000 }, default: 250, project: "lower", about: "How many times its own size an archive may grow, counted from 16 MB on" },
  { path: "approvals.mode", type: { kind: "enum", values: ["manual", "smart", "off"], booleans: { true: "manual", false: "off" } }, default: "manual", project: { looseToStrict: ["off", "smart", "manual"] }, policy: true, about: "Who decides about dangerous calls: a person (`manual`), a reviewer model before the person (`smart`), or nobody (`off`)" },
  { path: "approvals.timeout", type: seconds, default: 60, project: "lower", about: "Seconds a question to a person stays open; silence is a denial" },
  { path: "approvals.max_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 100, project: "never", about: "Room, in MB, for questions and their answers; the oldest that are settled leave first, and when those that wait have no room, new ones are denied" },
  { path: "approvals.unattended_mode", type: { kind: "enum", values: ["deny", "page", "queue"] }, default: "page", project: { looseToStrict: ["queue", "page", "deny"] }, policy: true, about: "What happens to a dangerous call when nobody can be asked: refused (`deny`), kept for an answer while the page is open in a browser and refused otherwise (`page`), or always kept until somebody answers from elsewhere (`queue`)" },
  { path: "approvals.approver", type: text, default: "", project: "never", policy: true, about: "An approver that a plugin brings: it is asked in the place of the terminal and the queue; empty: none" },
  { path: "approvals.cron_mode", type: { kind: "enum", values: ["deny", "page", "queue"] }, default: "deny", project: { looseToStrict: ["queue", "page", "deny"] }, policy: true, about: "The same for scheduled runs" },
  { path: "approvals.reviewer.url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of the OpenAI-compatible server that reviews dangerous calls when `approvals.mode` is `smart`" },
  { path: "approvals.reviewer.model", type: text, default: "", project: "never", about: "Name of the reviewer model on that server" },
  { path: "approvals.reviewer.api_key", type: text, default: "", project: "never", env: "HERMES_REVIEWER_API_KEY", secret: true, about: "Key for the reviewer's server; empty = none is sent" },
  { path: "approvals.reviewer.timeout", type: seconds, default: 20, project: "never", about: "Seconds to wait for the reviewer; then the person is asked" },
  { path: "approvals.deny", type: list, default: [], project: "unite", policy: true, about: "Command patterns that are always refused" },
  { path: "command_allowlist", type: { kind: "grants" }, default: [], project: "subset", policy: true, about: "Commands, patterns or kinds of danger approved for good; `hermes approvals grants` lists them" },
  { path: "security.allow_private_urls", type: boolean, default: false, project: { looseToStrict: [true, false] }, policy: true, about: "Let network tools reach private and loopback addresses" },
  { path: "security.allowed_hosts", type: list, default: [], project: "subset", policy: true, about: "Hosts network tools may reach even though their address is private" },
  { path: "security.url_allowlist", type: list, default: [], project: "narrow", policy: true, about: "When not empty, network tools reach only these hosts" },
  { path: "security.redact_patterns", type: boolean, default: true, project: { looseToStrict: [false, true] }, policy: true, about: "Also mask what has the form of a vendor's token or a private key, known or not, in results, journal and logs" },
  { path: "security.website_blocklist", type: list, default: [], project: "unite", policy: true, about: "Host patterns network tools may never reach" },
  { path: "network.proxy", type: text, default: "", project: "never", env: "HERMES_PROXY", envAliases: ["HTTPS_PROXY", "https_proxy"], notFromDotenv: true, about: "HTTP proxy that tools, models, MCP servers and gateways are reached through (`http://name:password@host:port`); empty: none" },
  { path: "network.no_proxy", type: list, default: [], project: "never", envAliases: ["NO_PROXY", "no_proxy"], notFromDotenv: true, about: "Hosts that are reached without the proxy; this machine always is" },
  { path: "permissions.profile", type: name, default: "default", project: "never", policy: true, flag: "profile", env: "HERMES_PROFILE", about: "Permission profile of new sessions" },
  { path: "hooks.timeout_seconds", type: seconds, default: 30, project: "never", about: "Longest time for one hook" },
  { path: "guardrails.hard_stop", type: { kind: "enum", values: ["auto", "on", "off"], booleans: { true: "on", false: "off" } }, default: "auto", project: { looseToStrict: ["off", "auto", "on"] }, policy: true, about: "Stop a looping agent in sessions opened with guardrails: always (`on`), never (`off`), or as the session says (`auto`)" },
  { path: "journal.enabled", type: boolean, default: true, project: { looseToStrict: [false, true] }, policy: true, about: "Record every call on disk" },
  { path: "journal.retention_days", type: { kind: "number", min: 0, max: 36_500 }, default: 90, project: "never", about: "Days a recorded call is kept; 0 keeps it for ever" },
  { path: "journal.results", type: boolean, default: true, project: "never", about: "Also keep the masked text that calls were answered with, up to 64 KiB of each" },
  { path: "journal.results_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 64, project: "never", about: "Room, in MB, for those texts; the oldest leave first" },
  { path: "journal.stats_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 64, project: "never", about: "Room, in MB, for what is counted of calls, also after their records have left; 22 bytes a call" },
  { path: "sessions.retention_days", type: { kind: "number", min: 0, max: 36_500 }, default: 0, project: "never", about: "Days a conversation is kept after its last message; 0 keeps it until there is no room" },
  { path: "sessions.max_mb", type: { kind: "integer", min: 1, max: 10_000_000 }, default: 2_000, project: "never", about: "Room, in MB, for the messages of all conversations; those that rested longest leave first" },
  { path: "memory.max_chars", type: { kind: "integer", min: 100, max: 100_000 }, default: 2_200, project: "never", about: "Characters that the agent's own notes (`MEMORY.md`) may take" },
  { path: "memory.user_max_chars", type: { kind: "integer", min: 100, max: 100_000 }, default: 1_375, project: "never", about: "Characters that what it knows of the person (`USER.md`) may take" },
  { path: "mcp_servers", type: { kind: "map", of: "mcp_server" }, default: {}, project: "never", about: "MCP servers whose tools are used: name → `command` and `args`, or `url`; see docs/mcp.md" },
  { path: "mcp.connect_concurrency", type: { kind: "integer", min: 1, max: 256 }, default: 8, project: "lower", about: "MCP servers that are being connected at the same time" },
  { path: "mcp.keepalive_seconds", type: { kind: "number", min: 1, max: 86_400 }, default: 180, project: "never", about: "Seconds between two looks whether a silent MCP server is still there" },
  { path: "mcp.sampling", type: boolean, default: false, project: { looseToStrict: [true, false] }, policy: true, about: "Let MCP servers ask the model of `mcp.sampling_url` (sampling); each server also needs `sampling: true`" },
  { path: "mcp.sampling_url", type: text, default: "", project: "never", notFromDotenv: true, about: "Address of the OpenAI-compatible server that answers sampling requests" },
  { path: "mcp.sampling_model", type: text, default: "", project: "never", about: "Model on that server" },
  { path: "mcp.sampling_api_key", type: text, default: "", project: "never", env: "HERMES_MCP_SAMPLING_API_KEY", secret: true, about: "Key for that server; empty = none is sent" },
  { path: "plugins.enabled", type: list, default: [], project: "never", policy: true, about: "Plugins that may run; `hermes plugins enable` writes it" },
  { path: "plugins.disabled", type: list, default: [], project: "unite", policy: true, about: "Plugins that never run, whoever enabled them" },
  { path: "plugins.packages", type: list, default: [], project: "never", about: "npm packages with the keyword `hermes-plugin`; `hermes plugins install` writes it" },
  { path: "reload.enabled", type: boolean, default: true, project: "never", about: "Take up changes of tools, plugins and configuration while the server or another long-lived program runs" },
  { path: "reload.debounce_ms", type: { kind: "integer", min: 10, max: 60_000 }, default: 150, project: "never", about: "Quiet time after a change before it is read" },
  { path: "undo.enabled", type: boolean, default: true, project: "never", about: "Keep what files held before tools changed them, for `hermes undo`" },
  { path: "undo.max_file_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 50, project: "never", about: "Largest file, in MB, that is kept before a change" },
  { path: "undo.max_total_mb", type: { kind: "integer", min: 1, max: 1_000_000 }, default: 1_000, project: "never", about: "Room, in MB, for all that is kept; the oldest is given up first" },
  { path: "undo.keep_days", type: { kind: "number", min: 0.01, max: 3_650 }, default: 14, project: "never", about: "Days it is kept" },
  { path: "code_execution.timeout", type: seconds, default: 300, project: "lower", about: "Seconds a script of `execute_code` may run" },
  { path: "code_execution.max_tool_calls", type: { kind: "integer", min: 0, max: 1_000_000 }, default: 50, project: "lower", about: "Tool calls one script may make" },
  { path: "code_execution.max_stdout_bytes", type: chars, default: 50_000, project: "lower", about: "Output of a script that is kept, head and tail" },
  { path: "code_execution.max_stderr_bytes", type: chars, default: 10_000, project: "lower", about: "Error output of a script that is kept" },
  { path: "code_execution.mode", type: { kind: "enum", values: ["project", "strict"] }, default: "project", project: { looseToStrict: ["project", "strict"] }, policy: true, about: "Where scripts run: in the session's folder with its own interpreter (`project`), or in an empty temporary one (`strict`)" },
  { path: "code_execution.sandbox", type: { kind: "enum", values: ["off", "auto", "required"], booleans: { true: "required", false: "off" } }, default: "auto", project: { looseToStrict: ["off", "auto", "required"] }, policy: true, about: "Run local scripts in an operating-system sandbox: never, when one works here (`auto`), or else refuse (`required`)" },
  { path: "code_execution.network", type: boolean, default: false, project: { looseToStrict: [true, false] }, policy: true, about: "Let sandboxed scripts use the network directly; their tool calls may in any case" },
  { path: "code_execution.tools", type: list, default: ["web_search", "web_extract", "read_file", "write_file", "search_files", "patch", "terminal"], project: "subset", policy: true, about: "Tools that scripts may call, as far as the session has them; `all` is every tool of the session" },
  { path: "code_execution.code_mode_tools", type: list, default: ["all"], project: "subset", policy: true, about: "Tools that scripts in code mode (`sandbox: quickjs`) may call, as far as the session has them; `all` is every tool of the session" },
  { path: "code_execution.memory_mb", type: { kind: "integer", min: 16, max: 1_000_000 }, default: 2_048, project: "lower", about: "Memory of a sandboxed script, in MB" },
  { path: "code_execution.max_processes", type: { kind: "integer", min: 1, max: 100_000 }, default: 256, project: "lower", about: "Processes and threads of a sandboxed script" },
  { path: "code_execution.quickjs_memory_mb", type: { kind: "integer", min: 1, max: 4_096 }, default: 128, project: "lower", about: "Memory of a script in code mode, in MB" },
  { path: "code_execution.max_kernels", type: { kind: "integer", min: 1, max: 256 }, default: 4, project: "lower", about: "Interpreters a session may keep between calls" },
  { path: "code_execution.kernel_idle_seconds", type: { kind: "number", min: 1, max: 604_800 }, default: 1_800, project: "lower", about: "Seconds after which a kept interpreter that nobody uses is ended" },
  ...MODEL_SETTINGS,
  ...TOOL_SETTINGS,
  ...GATEWAY_SETTINGS,
  { path: "cron.enabled", type: boolean, default: true, project: "never", about: "Let `hermes serve` run scheduled jobs" },
  { path: "cron.tick_seconds", type: { kind: "number", min: 0.1, max: 3_600 }, default: 30, project: "never", about: "How often the scheduler looks for jobs that were added or changed elsewhere" },
  { path: "cron.max_parallel", type: { kind: "integer", min: 1, max: 64 }, default: 4, project: "never", about: "Jobs that may run at the same time" },
  { path: "cron.catch_up_seconds", type: { kind: "number", min: 0, max: 604_800 }, default: 300, project: "never", about: "A run that was missed is made up for when it is at most this late; later ones are noted as missed" },
  { path: "cron.time_limit_seconds", type: { kind: "number", min: 1, max: 604_800 }, default: 1_800, project: "never", about: "A run that takes longer is stopped; waiting for a person does not count" },
  { path: "cron.timezone", type: { kind: "string", of: "time zone" }, default: "", project: "never", about: "Time zone of cron expressions; empty: that of this machine" },
  { path: "server.host", type: text, default: "127.0.0.1", project: "never", env: "HERMES_HOST", flag: "host", notFromDotenv: true, about: "Address the server listens on" },
  { path: "server.port", type: { kind: "integer", min: 0, max: 65_535 }, default: 9119, project: "never", env: "HERMES_PORT", flag: "port", notFromDotenv: true, about: "Port of the server; 0 picks a free one" },
  { path: "server.allowed_hosts", type: list, default: [], project: "never", notFromDotenv: true, about: "Further names the server answers to, e.g. of a proxy before it (`hermes.example:443`)" },
  { path: "server.token", type: text, default: "", project: "never", env: "HERMES_TOKEN", secret: true, about: "Token of the server; empty = made on first start and kept in `server.token`" },
  { path: "server.call_token", type: text, default: "", project: "never", env: "HERMES_CALL_TOKEN", secret: true, about: "Second token of the server that may call tools but not answer approvals; empty = none" },
  { path: "cluster.url", type: text, default: "", project: "never", flag: "cluster", notFromDotenv: true, about: "NATS servers of the cluster (`nats://host:4222`, comma separated; `tls://` for TLS): calls run on its workers; empty: on this machine" },
  { path: "cluster.key", type: text, default: "", project: "never", env: "HERMES_CLUSTER_KEY", secret: true, about: "Secret that all machines of a cluster share: decisions, results and questions between them are signed with it" },
  { path: "cluster.name", type: clusterName, default: "hermes", project: "never", about: "Name of the cluster: several can share the same NATS servers" },
  { path: "cluster.labels", type: list, default: [], project: "never", flag: "labels", about: "What this machine is called as a worker (`gpu`, `region=eu`), or what workers must be called to run the calls of this one" },
  { path: "cluster.slots", type: { kind: "integer", min: 1, max: 4_096 }, default: 32, project: "never", about: "Calls that this machine runs side by side as a worker; more wait in the queue" },
  { path: "cluster.replicas", type: { kind: "integer", min: 1, max: 5 }, default: 1, project: "never", about: "NATS servers that each hold a copy of what waits; 3 where there are three servers" },
  { path: "cluster.wait_seconds", type: { kind: "number", min: 0, max: 3_600 }, default: 5, project: "never", about: "How long a call waits for a worker that can run it" },
  { path: "cluster.drain_seconds", type: { kind: "number", min: 0, max: 86_400 }, default: 30, project: "never", about: "How long a worker that is told to stop lets its calls finish" },
  { path: "cluster.creds_file", type: text, default: "", project: "never", about: "Credentials for the NATS servers (a `.creds` file)" },
  { path: "cluster.nkey_file", type: text, default: "", project: "never", about: "NKey seed for the NATS servers (a file that holds `SU…`)" },
  { path: "cluster.tls_ca", type: text, default: "", project: "never", about: "Certificate authority of the NATS servers (PEM file)" },
  { path: "cluster.tls_cert", type: text, default: "", project: "never", about: "Certificate of this machine for the NATS servers (PEM file)" },
  { path: "cluster.tls_key", type: text, default: "", project: "never", about: "Key of that certificate (PEM file)" },
  { path: "log.level", type: { kind: "enum", values: ["debug", "info", "warn", "error", "silent"] }, default: "warn", project: "never", about: "Least serious message that is logged" },
] as const satisfies readonly ConfigKey[];

export type KnownKey = (typeof CONFIG_KEYS)[number];

const byPath: ReadonlyMap<string, ConfigKey> = new Map(CONFIG_KEYS.map((key) => [key.path, key]));

export function findKey(path: string): ConfigKey | undefined {
  return byPath.get(path);
}

/** The key a dotted path belongs to: itself, or the map it points into (`tool_settings.web_search.engine`). */
export function resolveKey(path: string): { key: ConfigKey; inside: string[] } | undefined {
  const exact = byPath.get(path);
  if (exact) return { key: exact, inside: [] };
  const parts = path.split(".");
  for (let length = parts.length - 1; length > 0; length--) {
    const key = byPath.get(parts.slice(0, length).join("."));
    if (key) return key.type.kind === "map" ? { key, inside: parts.slice(length) } : undefined;
  }
  return undefined;
}

export function envName(key: ConfigKey): string {
  return key.env ?? `HERMES_${key.path.toUpperCase().replaceAll(".", "_")}`;
}
