import { type ComponentType, lazy } from "react";
import type { IconName } from "../ui/icon.js";

export interface PageEntry {
  readonly id: string;
  readonly title: string;
  readonly group: "Work" | "Runtime" | "Insight" | "Control";
  readonly icon: IconName;
  /** After `g`. */
  readonly key: string;
  readonly about: string;
  readonly Page: ComponentType;
}

/** Every page is a file of its own that is loaded when somebody goes there. */
export const PAGES: readonly PageEntry[] = [
  {
    id: "live",
    title: "Live",
    group: "Work",
    icon: "live",
    key: "l",
    about: "Calls as they happen",
    Page: lazy(() => import("./live/page.js")),
  },
  {
    id: "approvals",
    title: "Approvals",
    group: "Work",
    icon: "approvals",
    key: "a",
    about: "What waits for you",
    Page: lazy(() => import("./approvals/page.js")),
  },
  {
    id: "chat",
    title: "Chat",
    group: "Work",
    icon: "chat",
    key: "c",
    about: "Talk with the agent",
    Page: lazy(() => import("./chat/page.js")),
  },
  {
    id: "tools",
    title: "Tools",
    group: "Runtime",
    icon: "tools",
    key: "t",
    about: "What there is, and try it",
    Page: lazy(() => import("./tools/page.js")),
  },
  {
    id: "sources",
    title: "Sources",
    group: "Runtime",
    icon: "sources",
    key: "o",
    about: "MCP servers, plugins, files",
    Page: lazy(() => import("./sources/page.js")),
  },
  {
    id: "processes",
    title: "Processes",
    group: "Runtime",
    icon: "processes",
    key: "r",
    about: "What runs in the background",
    Page: lazy(() => import("./processes/page.js")),
  },
  {
    id: "cron",
    title: "Cron",
    group: "Runtime",
    icon: "cron",
    key: "j",
    about: "Scheduled jobs",
    Page: lazy(() => import("./cron/page.js")),
  },
  {
    id: "stats",
    title: "Stats",
    group: "Insight",
    icon: "stats",
    key: "s",
    about: "Numbers over time",
    Page: lazy(() => import("./stats/page.js")),
  },
  {
    id: "sessions",
    title: "Sessions",
    group: "Insight",
    icon: "sessions",
    key: "e",
    about: "Conversations and their changes",
    Page: lazy(() => import("./sessions/page.js")),
  },
  {
    id: "logs",
    title: "Logs",
    group: "Insight",
    icon: "logs",
    key: "g",
    about: "What the server says",
    Page: lazy(() => import("./logs/page.js")),
  },
  {
    id: "permissions",
    title: "Permissions",
    group: "Control",
    icon: "permissions",
    key: "p",
    about: "What may run, and why",
    Page: lazy(() => import("./permissions/page.js")),
  },
  {
    id: "doctor",
    title: "Doctor",
    group: "Control",
    icon: "doctor",
    key: "d",
    about: "What is wrong, and the fix",
    Page: lazy(() => import("./doctor/page.js")),
  },
  {
    id: "settings",
    title: "Settings",
    group: "Control",
    icon: "settings",
    key: "n",
    about: "The configuration, and where it comes from",
    Page: lazy(() => import("./settings/page.js")),
  },
];

export const GROUPS = ["Work", "Runtime", "Insight", "Control"] as const;
