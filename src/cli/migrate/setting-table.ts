import { isRecord } from "../../base/record.js";
import { readBoolean } from "../../config/check-value.js";
import { engineNamed } from "../../tools/network/search/engines.js";
import { platformLists, sessionToolsets, toolsetList } from "./toolset-lists.js";

/** The value for the new key, or why the old one is left behind. */
export type Taken = { readonly value: unknown; readonly note?: string } | { readonly leave: string };

export interface SettingRow {
  /** Key in the config.yaml of Hermes Agent. */
  readonly from: string;
  readonly to: string;
  /** Left out: the value is taken as it is. */
  readonly take?: (value: unknown, theirs: Readonly<Record<string, unknown>>) => Taken;
  /** A list of refusals: entries are added to those that are here. */
  readonly adds?: true;
}

/** What would make a rule looser is not carried over: a person says it here once more, or does not. */
function unless(loose: boolean, to: string): (value: unknown) => Taken {
  return (value) =>
    // In quotes it means the same, there as here.
    (readBoolean(value) ?? value) === loose
      ? { leave: `it loosens a rule; if you want that here too: hermes config set ${to} ${String(loose)}` }
      : { value };
}

const PROVIDERS: Readonly<Record<string, string>> = {
  auto: "auto",
  openrouter: "openrouter",
  anthropic: "anthropic",
  gemini: "gemini",
  openai: "openai",
  "openai-api": "openai",
  ollama: "ollama",
  custom: "compatible",
  vllm: "compatible",
  llamacpp: "compatible",
  lmstudio: "compatible",
};

function provider(value: unknown, theirs: Readonly<Record<string, unknown>>): Taken {
  // With `auto` the address says who is asked there, or the form of the name; here the first key that is set would.
  return value === "auto" && isRecord(theirs.model) && meansOpenRouter(theirs.model)
    ? { value: "openrouter" }
    : providerNamed(value);
}

function providerNamed(value: unknown): Taken {
  const name = Object.hasOwn(PROVIDERS, String(value)) ? PROVIDERS[String(value)] : undefined;
  if (name !== undefined) return { value: name };
  return { leave: `there is no provider ${String(value)} here; choose one with: hermes setup model` };
}

function meansOpenRouter({ base_url: url, default: name }: Readonly<Record<string, unknown>>): boolean {
  return url === undefined || url === "" ? String(name).includes("/") : isOpenRouter(url);
}

function isOpenRouter(url: unknown): boolean {
  return String(url).includes("openrouter.ai");
}

function baseUrl(value: unknown): Taken {
  return isOpenRouter(value) ? { leave: "the address of OpenRouter is known here" } : { value };
}

function fallback(value: unknown): Taken {
  const chain = (Array.isArray(value) ? value : [value]).filter(isRecord);
  const names = chain.flatMap((entry) => {
    const taken = providerNamed(entry.provider ?? "auto");
    if (!("value" in taken) || typeof entry.model !== "string") return [];
    return `${String(taken.value)}:${entry.model}`;
  });
  if (names.length === 0) return { leave: "none of its providers is known here" };
  return { value: names.join(", ") };
}

function approvalsMode(value: unknown): Taken {
  if (value === false || value === "off")
    return {
      leave:
        "approvals are off there and stay on here; if you want them off: hermes config set approvals.mode off",
    };
  return { value: value === true ? "manual" : value };
}

/** `approve` there lets dangerous commands run with nobody watching. */
function unattended(value: unknown): Taken {
  return value === "deny"
    ? { value }
    : { leave: "it lets dangerous calls run with nobody watching; here they are denied or wait" };
}

function blocklist(value: unknown): Taken {
  if (!isRecord(value) || readBoolean(value.enabled) !== true) return { leave: "it is switched off there" };
  return { value: Array.isArray(value.domains) ? value.domains : [] };
}

function searchEngine(value: unknown): Taken {
  const name = { ddgs: "duckduckgo" }[String(value)] ?? String(value);
  return engineNamed(name) === undefined ? { leave: `there is no engine ${name} here` } : { value: name };
}

const same = (key: string): SettingRow => ({ from: key, to: key });

/** Old key → new key. What is not in it, and not handled by a file of its own, has no counterpart. */
export const SETTING_TABLE: readonly SettingRow[] = [
  { from: "model.default", to: "model.name" },
  { from: "model.model", to: "model.name" },
  { from: "model.provider", to: "model.provider", take: provider },
  { from: "model.base_url", to: "model.base_url", take: baseUrl },
  { from: "model.context_length", to: "model.context_tokens" },
  { from: "fallback_model", to: "model.fallback", take: fallback },
  { from: "fallback_providers", to: "model.fallback", take: fallback },
  same("agent.max_turns"),
  { from: "agent.disabled_toolsets", to: "agent.disabled_toolsets", take: toolsetList, adds: true },
  { from: "delegation.max_concurrent_children", to: "delegation.max_concurrent" },
  { from: "toolsets", to: "toolsets", take: sessionToolsets },
  same("custom_toolsets"),
  { from: "platform_toolsets", to: "platform_toolsets", take: platformLists },
  { from: "terminal.backend", to: "terminal.env" },
  {
    from: "terminal.cwd",
    to: "terminal.cwd",
    take: (value) =>
      value === "." || value === "auto" ? { leave: "it means the current folder" } : { value },
  },
  same("terminal.timeout"),
  same("terminal.lifetime_seconds"),
  same("terminal.env_passthrough"),
  same("terminal.container_cpu"),
  same("terminal.container_memory"),
  same("terminal.container_disk"),
  same("terminal.container_persistent"),
  { from: "terminal.docker_volumes", to: "terminal.container_mounts" },
  same("terminal.docker_image"),
  same("terminal.docker_run_as_host_user"),
  same("terminal.modal_image"),
  same("terminal.daytona_image"),
  same("terminal.singularity_image"),
  same("terminal.ssh_host"),
  same("terminal.ssh_user"),
  same("terminal.ssh_port"),
  same("terminal.ssh_key"),
  { from: "approvals.mode", to: "approvals.mode", take: approvalsMode },
  same("approvals.timeout"),
  { from: "approvals.cron_mode", to: "approvals.cron_mode", take: unattended },
  { from: "approvals.unattended_mode", to: "approvals.unattended_mode", take: unattended },
  { from: "approvals.deny", to: "approvals.deny", adds: true },
  {
    from: "security.allow_private_urls",
    to: "security.allow_private_urls",
    take: unless(true, "security.allow_private_urls"),
  },
  {
    from: "security.redact_secrets",
    to: "security.redact_patterns",
    take: unless(false, "security.redact_patterns"),
  },
  {
    from: "security.website_blocklist",
    to: "security.website_blocklist",
    take: blocklist,
    adds: true,
  },
  { from: "memory.memory_char_limit", to: "memory.max_chars" },
  { from: "memory.user_char_limit", to: "memory.user_max_chars" },
  same("tools.tool_search.enabled"),
  same("tools.tool_search.threshold_pct"),
  same("tools.tool_search.search_default_limit"),
  same("tools.tool_search.max_search_limit"),
  same("tool_budget.mcp_result_size_chars"),
  same("tool_output.max_bytes"),
  same("file_read_max_chars"),
  {
    from: "tool_loop_guardrails.hard_stop_enabled",
    to: "guardrails.hard_stop",
    take: (value) =>
      readBoolean(value) === true
        ? { value: "on" }
        : { leave: "off there; here it depends on who is watching" },
  },
  { from: "web.search_backend", to: "web.search_engine", take: searchEngine },
  same("code_execution.timeout"),
  same("code_execution.max_tool_calls"),
  same("code_execution.mode"),
  { from: "browser.inactivity_timeout", to: "browser.idle_seconds" },
  same("browser.command_timeout"),
  same("browser.cdp_url"),
  same("browser.dialog_policy"),
  { from: "browser.dialog_timeout_s", to: "browser.dialog_timeout" },
  same("tts.provider"),
  same("stt.provider"),
  same("image_gen.provider"),
  { from: "cron.max_parallel_jobs", to: "cron.max_parallel" },
  { from: "timezone", to: "cron.timezone" },
];
