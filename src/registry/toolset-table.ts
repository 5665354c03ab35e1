/** A named bundle: its own tools plus those of other toolsets. */
export interface ToolsetDefinition {
  readonly description: string;
  readonly tools: readonly string[];
  readonly includes?: readonly string[];
  /** Presets and postures bundle the core list; disabling one removes only what it adds to the core. */
  readonly bundle?: boolean;
  /** Left out of "all" and of the default selection: somebody has to name it. */
  readonly optIn?: boolean;
}

const BROWSER_TOOLS = [
  "browser_navigate",
  "browser_snapshot",
  "browser_click",
  "browser_type",
  "browser_scroll",
  "browser_back",
  "browser_press",
  "browser_get_images",
  "browser_vision",
  "browser_console",
  "browser_cdp",
  "browser_dialog",
] as const;

const KANBAN_TOOLS = [
  "show",
  "list",
  "complete",
  "block",
  "request_review",
  "request_changes",
  "heartbeat",
  "comment",
  "create",
  "link",
  "unblock",
  "attach",
  "attach_url",
  "attachments",
].map((verb) => `kanban_${verb}`);

const RL_TOOLS = [
  "rl_list_environments",
  "rl_select_environment",
  "rl_get_current_config",
  "rl_edit_config",
  "rl_start_training",
  "rl_check_status",
  "rl_stop_training",
  "rl_get_results",
  "rl_list_runs",
  "rl_test_inference",
] as const;

const FEISHU_DRIVE_TOOLS = [
  "feishu_drive_list_comments",
  "feishu_drive_list_comment_replies",
  "feishu_drive_reply_comment",
  "feishu_drive_add_comment",
] as const;

const YUANBAO_TOOLS = [
  "yb_query_group_info",
  "yb_query_group_members",
  "yb_send_dm",
  "yb_search_sticker",
  "yb_send_sticker",
] as const;

const HOME_TOOLS = ["ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service"] as const;
const SKILL_TOOLS = ["skills_list", "skill_view", "skill_manage"] as const;
const FILE_TOOLS = ["read_file", "write_file", "patch", "search_files"] as const;

/** What every full platform offers; presets are this list plus or minus a little. */
export const CORE_TOOLS: readonly string[] = [
  "web_search",
  "web_extract",
  "terminal",
  "process",
  ...FILE_TOOLS,
  "vision_analyze",
  "image_generate",
  ...SKILL_TOOLS,
  ...BROWSER_TOOLS,
  "text_to_speech",
  "todo",
  "memory",
  "session_search",
  "clarify",
  "execute_code",
  "delegate_task",
  "cronjob",
  ...HOME_TOOLS,
];

const without = (...names: readonly string[]): readonly string[] =>
  CORE_TOOLS.filter((tool) => !names.includes(tool));

const leaf = (description: string, ...tools: readonly string[]): ToolsetDefinition => ({
  description,
  tools,
});

const LEAVES: Readonly<Record<string, ToolsetDefinition>> = {
  web: leaf("Search the web and read pages", "web_search", "web_extract"),
  search: leaf("Search the web", "web_search"),
  terminal: leaf("Run commands and manage processes", "terminal", "process"),
  file: leaf("Read, write, edit and search files", ...FILE_TOOLS),
  browser: leaf("Drive a browser", ...BROWSER_TOOLS),
  vision: leaf("Look at images", "vision_analyze"),
  image_gen: leaf("Generate images", "image_generate"),
  tts: leaf("Speak text", "text_to_speech"),
  skills: leaf("List, read and edit skills", ...SKILL_TOOLS),
  todo: leaf("Plan and track tasks", "todo"),
  memory: leaf("Remember facts across sessions", "memory"),
  session_search: leaf("Recall earlier sessions", "session_search"),
  clarify: leaf("Ask the person", "clarify"),
  code_execution: leaf("Run scripts that call tools", "execute_code"),
  delegation: leaf("Hand work to subagents", "delegate_task"),
  cronjob: leaf("Schedule work", "cronjob"),
  messaging: leaf("Send messages to chat platforms", "send_message"),
  moa: leaf("Ask several models at once", "mixture_of_agents"),
  homeassistant: leaf("Read and steer a smart home", ...HOME_TOOLS),
  honcho: leaf(
    "Model of the user kept by Honcho",
    "honcho_profile",
    "honcho_search",
    "honcho_context",
    "honcho_reasoning",
    "honcho_conclude",
  ),
  rl: leaf("Train models by reinforcement learning", ...RL_TOOLS),
  x_search: leaf("Search posts on X", "x_search"),
  video: leaf("Watch videos", "video_analyze"),
  video_gen: leaf("Generate videos", "video_generate", "xai_video_edit", "xai_video_extend"),
  kanban: { ...leaf("Work a kanban board", ...KANBAN_TOOLS), optIn: true },
  computer_use: leaf("Drive the desktop", "computer_use"),
  discord: leaf("Read and write Discord", "discord"),
  discord_admin: leaf("Administer a Discord server", "discord_admin"),
  feishu_doc: leaf("Read Feishu documents", "feishu_doc_read"),
  feishu_drive: leaf("Comment on Feishu files", ...FEISHU_DRIVE_TOOLS),
  yuanbao: leaf("Yuanbao groups and stickers", ...YUANBAO_TOOLS),
  spotify: leaf("Music, from a plugin"),
  project: leaf("Projects, from a plugin"),
  desktop_ui: leaf("Desktop interface, from a plugin"),
  context_engine: leaf("Context engines, from a plugin"),
};

const COMPOSITES: Readonly<Record<string, ToolsetDefinition>> = {
  debugging: {
    description: "Terminal, web and files for finding faults",
    tools: ["terminal", "process"],
    includes: ["web", "file"],
  },
  safe: {
    description: "Nothing that touches this machine",
    tools: [],
    includes: ["web", "vision", "image_gen"],
  },
  coding: {
    description: "The core without media, schedules and the smart home",
    tools: without("image_generate", "text_to_speech", "cronjob", ...HOME_TOOLS),
    bundle: true,
  },
  system: leaf(
    "Domain: commands, processes, machine",
    "terminal",
    "process",
    "env_manager",
    "cronjob",
    "system_info",
    "clipboard",
    "notification",
    "sleep",
  ),
  network: leaf(
    "Domain: search, HTTP, pages",
    "web_search",
    "browser_navigate",
    "browser_click",
    "browser_screenshot",
    "http_request",
    "rss_reader",
    "web_extract",
    "link_checker",
    "dns_lookup",
  ),
  files: leaf(
    "Domain: files and folders",
    "read_file",
    "write_file",
    "search_files",
    "directory_list",
    "file_compress",
    "file_diff",
    "file_watch",
  ),
  code: leaf(
    "Domain: run, check and debug code",
    "execute_code",
    "code_lint",
    "code_format",
    "code_test",
    "code_debug",
    "repl",
  ),
  multimedia: leaf(
    "Domain: images, audio, documents, charts",
    "vision_analyze",
    "image_generate",
    "image_edit",
    "audio_transcribe",
    "pdf_extract",
    "chart_generate",
  ),
  platform: leaf(
    "Domain: git, containers, databases, services",
    "git_operations",
    "docker_manage",
    "database_query",
    "api_call",
    "email_send",
    "calendar_manage",
    "spreadsheet",
    "cloud_storage",
  ),
};

const CORE_PLATFORMS = [
  "cli",
  "cron",
  "telegram",
  "whatsapp",
  "slack",
  "signal",
  "bluebubbles",
  "homeassistant",
  "email",
  "sms",
  "mattermost",
  "dingtalk",
  "weixin",
  "qqbot",
  "wecom",
  "wecom-callback",
] as const;

const EXTENDED_PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  discord: ["discord", "discord_admin"],
  matrix: ["matrix_read"],
  feishu: ["feishu_doc_read", ...FEISHU_DRIVE_TOOLS],
  yuanbao: YUANBAO_TOOLS,
};

const MESSAGING = [...CORE_PLATFORMS.filter((platform) => platform !== "cli" && platform !== "cron")];

const PRESETS: Readonly<Record<string, ToolsetDefinition>> = {
  ...Object.fromEntries(
    CORE_PLATFORMS.map((platform) => [
      `hermes-${platform}`,
      { description: `Everything for ${platform}`, tools: CORE_TOOLS, bundle: true },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(EXTENDED_PLATFORMS).map(([platform, extra]) => [
      `hermes-${platform}`,
      { description: `Everything for ${platform}`, tools: [...CORE_TOOLS, ...extra], bundle: true },
    ]),
  ),
  "hermes-acp": {
    description: "Coding posture for editors, which ask the person themselves",
    tools: without("image_generate", "text_to_speech", "cronjob", "clarify", ...HOME_TOOLS),
    bundle: true,
  },
  "hermes-api-server": {
    description: "The core for programs: nobody to talk to",
    tools: without("text_to_speech", "clarify"),
    bundle: true,
  },
  "hermes-webhook": {
    description: "For untrusted input: reads only, touches nothing",
    tools: ["web_search", "web_extract", "vision_analyze", "clarify"],
    bundle: true,
  },
  "hermes-gateway": {
    description: "Every messaging platform together",
    tools: [],
    includes: [...MESSAGING, ...Object.keys(EXTENDED_PLATFORMS)].map((platform) => `hermes-${platform}`),
    bundle: true,
  },
};

/** Toolset names of older versions. They name tools, not toolsets. */
const LEGACY: Readonly<Record<string, readonly string[]>> = {
  web_tools: ["web_search", "web_extract"],
  terminal_tools: ["terminal"],
  vision_tools: ["vision_analyze"],
  moa_tools: ["mixture_of_agents"],
  image_tools: ["image_generate"],
  skills_tools: SKILL_TOOLS,
  browser_tools: BROWSER_TOOLS.slice(0, 10),
  cronjob_tools: ["cronjob"],
  rl_tools: RL_TOOLS,
  file_tools: FILE_TOOLS,
  tts_tools: ["text_to_speech"],
};

/** Every name this package knows, including ones whose tools arrive with other packages. */
export const STATIC_TOOLSETS: ReadonlyMap<string, ToolsetDefinition & { readonly kind: ToolsetKind }> =
  new Map([
    ...withKind("leaf", LEAVES),
    ...withKind("composite", COMPOSITES),
    ...withKind("preset", PRESETS),
    ...withKind(
      "legacy",
      Object.fromEntries(
        Object.entries(LEGACY).map(([name, tools]) => [name, { description: "Older name", tools }]),
      ),
    ),
  ]);

export type ToolsetKind = "leaf" | "composite" | "preset" | "legacy" | "custom" | "dynamic";

function withKind(kind: ToolsetKind, table: Readonly<Record<string, ToolsetDefinition>>) {
  return Object.entries(table).map(([name, definition]) => [name, { ...definition, kind }] as const);
}
