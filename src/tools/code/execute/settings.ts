import type { CallContext } from "../../../tool/tool.js";

/** The section `code_execution` of the configuration. */
export interface CodeSettings {
  readonly timeout: number;
  readonly max_tool_calls: number;
  readonly max_stdout_bytes: number;
  readonly max_stderr_bytes: number;
  readonly mode: "project" | "strict";
  readonly sandbox: "off" | "auto" | "required";
  readonly network: boolean;
  readonly tools: readonly string[];
  readonly code_mode_tools: readonly string[];
  readonly memory_mb: number;
  readonly max_processes: number;
  readonly quickjs_memory_mb: number;
  readonly max_kernels: number;
  readonly kernel_idle_seconds: number;
}

/** What holds where no configuration is given; the same as in its schema. */
export const DEFAULT_SETTINGS: CodeSettings = {
  timeout: 300,
  max_tool_calls: 50,
  max_stdout_bytes: 50_000,
  max_stderr_bytes: 10_000,
  mode: "project",
  sandbox: "auto",
  network: false,
  tools: ["web_search", "web_extract", "read_file", "write_file", "search_files", "patch", "terminal"],
  code_mode_tools: ["all"],
  memory_mb: 2_048,
  max_processes: 256,
  quickjs_memory_mb: 128,
  max_kernels: 4,
  kernel_idle_seconds: 1_800,
};

export function codeSettings(settings: CallContext["settings"]): CodeSettings {
  const given = settings.code_execution;
  return typeof given === "object" && given !== null ? { ...DEFAULT_SETTINGS, ...given } : DEFAULT_SETTINGS;
}

/** Variables that scripts keep although their names speak of secrets. */
export function passedThrough(settings: CallContext["settings"]): readonly string[] {
  const given = settings.env_passthrough;
  return Array.isArray(given) ? given.filter((name): name is string => typeof name === "string") : [];
}

export const NEVER_INSIDE: readonly string[] = ["execute_code", "clarify", "delegate_task"];

/** What `openTools` is to open for these names of the configuration. */
export function toolChoice(names: readonly string[]): {
  readonly only?: readonly string[];
  readonly except: readonly string[];
} {
  return names.includes("all") ? { except: NEVER_INSIDE } : { only: names, except: NEVER_INSIDE };
}
