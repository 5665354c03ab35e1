import type { BriefCall } from "../../api/types.js";
import type { Place } from "../../router.js";
import type { LiveCall } from "./calls-store.js";

/** Everything but the status: that one is also counted, so all of them are kept and told apart on the page. */
export const FIELDS = ["tool", "session", "conversation", "door", "environment"] as const;
type FieldName = (typeof FIELDS)[number];

export interface CallFilter extends Partial<Record<FieldName, string>> {
  readonly q?: string;
}

export function filterFrom(query: Place["query"]): CallFilter {
  const given = Object.fromEntries(
    [...FIELDS, "q"].flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
  return given as CallFilter;
}

export function matcher(filter: CallFilter): (call: BriefCall) => boolean {
  const q = filter.q?.toLowerCase();
  return (call) =>
    (filter.tool === undefined || call.tool === filter.tool) &&
    (filter.session === undefined || call.session_id === filter.session) &&
    (filter.conversation === undefined || call.conversation === filter.conversation) &&
    (filter.door === undefined || call.door === filter.door || call.door === "") &&
    (filter.environment === undefined ||
      call.environment === filter.environment ||
      call.environment === "") &&
    (q === undefined || call.tool.toLowerCase().includes(q) || call.preview.toLowerCase().includes(q));
}

/** `tool:read_file` typed into the field becomes a filter of its own; the rest is searched for. */
export function parseTyped(typed: string): { readonly q: string; readonly fields: Record<string, string> } {
  const fields: Record<string, string> = {};
  const rest = typed.replace(
    /(?:^|\s)(tool|session|conversation|door|environment|env|status):(\S+)\s/g,
    (_all, name: string, value: string) => {
      fields[name === "env" ? "environment" : name] = value;
      return " ";
    },
  );
  return { q: rest.trimStart(), fields };
}

export type StatusTab =
  | "all"
  | "running"
  | "asked"
  | "error"
  | "denied"
  | "timeout"
  | "cancelled"
  | "unknown";

/** A timeout is a failure too; a denial is none. */
const STATUSES: Readonly<Partial<Record<StatusTab, readonly string[]>>> = {
  error: ["error", "timeout", "unknown"],
  denied: ["denied", "blocked"],
};

export function statusesOf(tab: StatusTab): readonly string[] {
  if (tab === "all") return [];
  return STATUSES[tab] ?? [tab === "asked" ? "running" : tab];
}

export function isInTab(call: BriefCall, tab: StatusTab, isAsked: boolean): boolean {
  if (tab === "all") return true;
  if (tab === "asked") return isAsked;
  return statusesOf(tab).includes(call.status) && !isAsked;
}

/** How many are in each, in one pass. */
export function countTabs(
  calls: readonly LiveCall[],
  asked: { has(key: string): boolean },
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { all: calls.length, running: 0, asked: 0, error: 0, denied: 0 };
  for (const { key, status } of calls) {
    const tab = asked.has(key) ? "asked" : (TAB_OF[status] ?? status);
    if (tab in counts) counts[tab] = (counts[tab] ?? 0) + 1;
  }
  return counts;
}

const TAB_OF: Readonly<Record<string, StatusTab>> = {
  timeout: "error",
  unknown: "error",
  blocked: "denied",
};
