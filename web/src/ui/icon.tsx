import type { ReactNode } from "react";

/** Line icons on a grid of 16. `s-` are the states of a call, `t-` the kinds of tools. */
const SHAPES = {
  approvals: (
    <>
      <path d="M8 1.6l5.2 2v3.9c0 3.2-2.1 5.6-5.2 6.9-3.1-1.3-5.2-3.7-5.2-6.9V3.6z" />
      <path d="M5.7 7.9l1.7 1.7 3-3.3" />
    </>
  ),
  chat: <path d="M2 3.5a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H7l-3 2.5V11.5H3a1 1 0 0 1-1-1z" />,
  check: <path d="M3 8.5l3.2 3.2L13 4.8" />,
  circle: <circle cx="8" cy="8" r="6.25" />,
  clip: (
    <path d="M13 7.5l-5.2 5.2a3.2 3.2 0 0 1-4.5-4.5L8.6 2.9a2.1 2.1 0 0 1 3 3L6.4 11.1a1 1 0 0 1-1.5-1.5L9.5 5" />
  ),
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M3.5 10.5h-.5a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1h6.5a1 1 0 0 1 1 1v.5" />
    </>
  ),
  cron: (
    <>
      <path d="M13.5 4.5A6.25 6.25 0 1 0 14.2 8" />
      <path d="M13.8 1.8v3h-3M8 5v3l2 1.5" />
    </>
  ),
  doctor: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="3" />
      <path d="M8 5v6M5 8h6" />
    </>
  ),
  down: <path d="M3.5 6L8 10.5 12.5 6" />,
  download: <path d="M8 2.5v8M4.5 7.5L8 11l3.5-3.5M2.5 13.5h11" />,
  eye: (
    <>
      <path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z" />
      <circle cx="8" cy="8" r="2" />
    </>
  ),
  filter: <path d="M2 4h12M4.5 8h7M6.5 12h3" />,
  folder: <path d="M1.75 4a1 1 0 0 1 1-1h3.5l1.5 2h5.5a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-10.5a1 1 0 0 1-1-1z" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 7.3v3.7M8 5v.01" />
    </>
  ),
  keyboard: (
    <>
      <rect x="1.75" y="4" width="12.5" height="8" rx="1.5" />
      <path d="M4.5 6.8v.01M7 6.8v.01M9.5 6.8v.01M12 6.8v.01M5 9.4h6" />
    </>
  ),
  left: <path d="M10 3.5L5.5 8l4.5 4.5" />,
  link: <path d="M6.5 3.5H3.5a1 1 0 0 0-1 1v8a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1v-3M9.5 2.5h4v4M13 3L7.5 8.5" />,
  live: <path d="M1.5 8h3l2-5 3 10 2-5h3" />,
  login: <path d="M9.5 2.5h3a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-3M2.5 8h7M7 5l3 3-3 3" />,
  logs: <path d="M2.5 3.5h11M2.5 6.5h8M2.5 9.5h11M2.5 12.5h6" />,
  minus: <path d="M3 8h10" />,
  more: (
    <>
      <circle cx="3.5" cy="8" r=".9" fill="currentColor" />
      <circle cx="8" cy="8" r=".9" fill="currentColor" />
      <circle cx="12.5" cy="8" r=".9" fill="currentColor" />
    </>
  ),
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  permissions: (
    <>
      <circle cx="5.2" cy="10.8" r="3" />
      <path d="M7.4 8.6l6.1-6.1M11 5l2 2" />
    </>
  ),
  play: <path d="M5 3.5v9l7.5-4.5z" />,
  plus: <path d="M8 3v10M3 8h10" />,
  processes: (
    <>
      <rect x="1.75" y="2.5" width="12.5" height="11" rx="1.5" />
      <path d="M4.5 6l2 2-2 2M8.5 10.5h3" />
    </>
  ),
  rerun: (
    <>
      <path d="M2.5 8a5.5 5.5 0 1 0 1.8-4.1" />
      <path d="M2.2 2.2v3h3" />
    </>
  ),
  right: <path d="M6 3.5L10.5 8 6 12.5" />,
  "s-asked": (
    <>
      <path d="M8 1.3L14.7 8 8 14.7 1.3 8z" />
      <path d="M6.5 6.7a1.5 1.5 0 1 1 2.2 1.3c-.5.3-.7.5-.7 1" />
      <path d="M8 10.9v.01" />
    </>
  ),
  "s-cancelled": (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <rect x="6" y="6" width="4" height="4" rx=".6" fill="currentColor" stroke="none" />
    </>
  ),
  "s-denied": (
    <>
      <path d="M8 1.6l5.2 2v3.9c0 3.2-2.1 5.6-5.2 6.9-3.1-1.3-5.2-3.7-5.2-6.9V3.6z" />
      <path d="M5.7 10.2l4.6-4.6" />
    </>
  ),
  "s-error": (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M5.9 5.9l4.2 4.2M10.1 5.9l-4.2 4.2" />
    </>
  ),
  "s-ok": (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M5.3 8.2l1.9 1.9 3.6-4" />
    </>
  ),
  "s-running": (
    <>
      <circle cx="8" cy="8" r="6.25" opacity=".25" />
      <path d="M8 1.75A6.25 6.25 0 0 1 14.25 8" />
    </>
  ),
  "s-timeout": (
    <>
      <circle cx="8" cy="8.5" r="5.75" />
      <path d="M8 5.5v3l2 1.3M6.5 1.2h3" />
    </>
  ),
  "s-unknown": (
    <>
      <circle cx="8" cy="8" r="6.25" strokeDasharray="2.2 2.2" />
      <path d="M6.5 6.6a1.5 1.5 0 1 1 2.2 1.3c-.5.3-.7.5-.7 1" />
      <path d="M8 10.9v.01" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.5 10.5l3.5 3.5" />
    </>
  ),
  send: <path d="M8 13V3M4 7l4-4 4 4" />,
  sessions: <path d="M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3" />,
  settings: (
    <>
      <path d="M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6" />
      <circle cx="10" cy="4.5" r="1.75" />
      <circle cx="6" cy="11.5" r="1.75" />
    </>
  ),
  sources: <path d="M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5" />,
  stats: <path d="M2.5 13.5V9M6.2 13.5V3M9.8 13.5V6.5M13.5 13.5V4.8" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1.5" />,
  "t-agent": (
    <>
      <circle cx="8" cy="4" r="2.25" />
      <circle cx="3.5" cy="12" r="1.75" />
      <circle cx="12.5" cy="12" r="1.75" />
      <path d="M8 6.25v2.5M8 8.75H3.5v1.5M8 8.75h4.5v1.5" />
    </>
  ),
  "t-book": (
    <path d="M8 4c-1.5-1.2-3.5-1.5-6-1.5v10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v-10C11.5 2.5 9.5 2.8 8 4zM8 4v10" />
  ),
  "t-browser": (
    <>
      <rect x="1.75" y="2.75" width="12.5" height="10.5" rx="1.5" />
      <path d="M1.75 6h12.5M4 4.4v.01M6 4.4v.01" />
    </>
  ),
  "t-calendar": (
    <>
      <rect x="2" y="3" width="12" height="11" rx="1.5" />
      <path d="M2 6.5h12M5.5 1.5v3M10.5 1.5v3" />
    </>
  ),
  "t-chart": <path d="M2 2v12h12M5 10l2.5-3 2.5 2 3.5-4.5" />,
  "t-clock": (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 4.5V8l2.5 1.5" />
    </>
  ),
  "t-cloud": <path d="M4.5 12.5a3 3 0 0 1-.3-6 4 4 0 0 1 7.7.9 2.6 2.6 0 0 1-.4 5.1z" />,
  "t-code": <path d="M5 4.5L1.5 8 5 11.5M11 4.5L14.5 8 11 11.5" />,
  "t-file": (
    <>
      <path d="M4 1.75h5L12.5 5.25v8a1 1 0 0 1-1 1h-7.5a1 1 0 0 1-1-1v-10.5a1 1 0 0 1 1-1z" />
      <path d="M9 1.75v3.5h3.5" />
    </>
  ),
  "t-git": (
    <>
      <circle cx="4.5" cy="3.5" r="1.75" />
      <circle cx="4.5" cy="12.5" r="1.75" />
      <circle cx="11.5" cy="5.5" r="1.75" />
      <path d="M4.5 5.25v5.5M11.5 7.25c0 2.5-3 2.5-5.5 3.5" />
    </>
  ),
  "t-home": <path d="M2 7.5L8 2.5l6 5M3.5 6.5v7h9v-7M6.5 13.5v-4h3v4" />,
  "t-image": (
    <>
      <rect x="2" y="2.5" width="12" height="11" rx="1.5" />
      <circle cx="5.5" cy="6" r="1" />
      <path d="M2.5 12l3.5-3 2.5 2 2.5-2.5 3 3" />
    </>
  ),
  "t-list": <path d="M6 4h8M6 8h8M6 12h8M2.5 4v.01M2.5 8v.01M2.5 12v.01" />,
  "t-mail": (
    <>
      <rect x="1.75" y="3.25" width="12.5" height="9.5" rx="1.5" />
      <path d="M2 4.5l6 4.5 6-4.5" />
    </>
  ),
  "t-memory": (
    <>
      <ellipse cx="8" cy="4" rx="5.25" ry="2" />
      <path d="M2.75 4v8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2V4M2.75 8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2" />
    </>
  ),
  "t-net": (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M1.75 8h12.5M8 1.75c2 1.7 2.8 3.9 2.8 6.25S10 12.55 8 14.25C6 12.55 5.2 10.35 5.2 8S6 3.45 8 1.75z" />
    </>
  ),
  "t-patch": <path d="M9.5 3.5l3 3-7 7h-3v-3zM8 5l3 3" />,
  "t-puzzle": <path d="M6 3.5a1.5 1.5 0 0 1 3 0V4h3v3h.5a1.5 1.5 0 0 1 0 3H12v3.5H3V4h3z" />,
  "t-search": (
    <>
      <path d="M2 3.5h12M2 7h5M2 10.5h4" />
      <circle cx="10.5" cy="10" r="2.5" />
      <path d="M12.5 12l2 2" />
    </>
  ),
  "t-sound": <path d="M2.5 6v4h2.5l3.5 3V3L5 6zM11 6a3 3 0 0 1 0 4M12.8 4a6 6 0 0 1 0 8" />,
  "t-term": <path d="M2.5 4l4 4-4 4M8 12.5h5.5" />,
  theme: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 2.25a5.75 5.75 0 0 1 0 11.5z" fill="currentColor" />
    </>
  ),
  tools: (
    <path d="M10.3 2.3a3.7 3.7 0 0 0-3.5 5L2.3 11.8a1.35 1.35 0 0 0 1.9 1.9l4.5-4.5a3.7 3.7 0 0 0 4.9-4.6L11.5 6.7 9.4 6.5 9.2 4.4z" />
  ),
  trash: <path d="M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9" />,
  "tri-down": <path d="M8 11.5l4.5-7h-9z" fill="currentColor" />,
  "tri-up": <path d="M8 4.5l4.5 7h-9z" fill="currentColor" />,
  undo: (
    <>
      <path d="M3 6h6.5a3.5 3.5 0 0 1 0 7H6" />
      <path d="M6 3L3 6l3 3" />
    </>
  ),
  up: <path d="M3.5 10L8 5.5 12.5 10" />,
  warn: (
    <>
      <path d="M8 2.2l6.3 11H1.7z" />
      <path d="M8 6.5v3M8 11.3v.01" />
    </>
  ),
} as const satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

/** Decoration: what it means stands beside it, or in the label of its button. */
export function Icon(props: {
  readonly name: IconName;
  readonly size?: "s" | "m";
  readonly className?: string;
}) {
  const classes = ["i", props.size === "s" && "i-s", props.className].filter(Boolean).join(" ");
  return (
    <svg className={classes} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {SHAPES[props.name]}
    </svg>
  );
}

/** First match counts: what a tool is called says more than its toolset. */
const BY_NAME: readonly (readonly [RegExp, IconName])[] = [
  [/^(mcp_|mcp__)/, "t-puzzle"],
  [/^(search_files|grep|find)|_search$|^tool_(search|describe)/, "t-search"],
  [/^(patch|edit|code_(format|lint|refactor))/, "t-patch"],
  [/^git/, "t-git"],
  [/chart/, "t-chart"],
  [/^(image|vision|screenshot|pdf_figures|qr)/, "t-image"],
  [/audio|speech|video|transcribe/, "t-sound"],
  [/^browser/, "t-browser"],
  [/mail|notif|message/, "t-mail"],
  [/calendar/, "t-calendar"],
  [/^(sleep|cron|datetime|time|timer)/, "t-clock"],
  [/^(terminal|process|shell)/, "t-term"],
  [/^(execute_code|code_|debug|python|regex|json|yaml)/, "t-code"],
  [/^(delegate|agent|ask_|clarify)/, "t-agent"],
  [/memory|database|sql|redis|mongo/, "t-memory"],
  [/^(skill|session_search|docs)/, "t-book"],
  [/^(todo|plan)/, "t-list"],
  [/^(docker|podman|cloud|s3|modal)/, "t-cloud"],
  [/^(ha_|home)/, "t-home"],
  [/^(directory|folder)/, "folder"],
  [/^clipboard/, "copy"],
  [/^env_/, "settings"],
  [/^system_/, "stats"],
  [/^mixture/, "t-agent"],
  [/^repl$/, "t-code"],
  [/^(api|link)_/, "t-net"],
  [/^(http|web|rss|dns|url|network|fetch|ping|whois)/, "t-net"],
  [/file|^(read|write|csv|spreadsheet|archive|pdf)/, "t-file"],
];
const BY_TOOLSET: Readonly<Record<string, IconName>> = {
  clipboard: "copy",
  containers: "t-cloud",
  delegation: "t-agent",
  env: "settings",
  feeds: "logs",
  homeassistant: "t-home",
  messaging: "t-mail",
  moa: "t-agent",
  multimedia: "t-image",
  services: "t-cloud",
  storage: "t-cloud",
  sysinfo: "stats",
  agent: "t-agent",
  browser: "t-browser",
  code: "t-code",
  cron: "t-clock",
  file: "t-file",
  files: "t-file",
  http: "t-net",
  media: "t-image",
  memory: "t-memory",
  skills: "t-book",
  system: "processes",
  terminal: "t-term",
  web: "t-net",
};

export function toolIcon(tool: string, toolset?: string): IconName {
  if (toolset?.startsWith("mcp") === true || toolset?.startsWith("plugin") === true) return "t-puzzle";
  return BY_NAME.find(([pattern]) => pattern.test(tool))?.[1] ?? BY_TOOLSET[toolset ?? ""] ?? "tools";
}
