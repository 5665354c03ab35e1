import type { Drift, McpServerStatus, SourceStatus, SourcesAnswer } from "../../api/types.js";
import { left, plural, took } from "../../lib/format.js";
import type { IconName } from "../../ui/icon.js";
import type { Tone } from "../../ui/status.js";

export interface SourceRow {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  /** The line below the name. */
  readonly about: string;
  readonly status: SourceStatus;
  readonly server?: McpServerStatus;
  readonly drift: readonly Drift[];
  readonly tone: Tone;
  readonly word: string;
  readonly icon?: IconName;
  readonly needsLogin: boolean;
  /** Whether somebody has to do something. */
  readonly needsYou: boolean;
}

const KINDS: Readonly<Record<string, { readonly word: string; readonly icon: IconName }>> = {
  plugin: { word: "plugin", icon: "t-puzzle" },
  yaml: { word: "YAML", icon: "t-file" },
  module: { word: "module", icon: "t-code" },
  openapi: { word: "OpenAPI", icon: "t-net" },
};

export function rowsOf(answer: SourcesAnswer): readonly SourceRow[] {
  return answer.sources.map((status) => {
    const [kind = "", ...rest] = status.source.split(":");
    const place = rest.join(":");
    const server = kind === "mcp" ? answer.mcp_servers.find(({ name }) => name === place) : undefined;
    const drift = server?.drift ?? [];
    const text = `${status.reason ?? ""} ${status.fix ?? ""}`;
    const needsLogin =
      server !== undefined && status.state !== "ready" && /log ?in|oauth|authori[sz]/i.test(text);
    const { tone, word } = stateOf(status, drift.length > 0, needsLogin);
    const known = KINDS[kind];
    return {
      id: status.source,
      kind,
      name: server?.name ?? place.split("/").at(-1) ?? place,
      about: server === undefined ? `${known?.word ?? kind} · ${place}` : aboutServer(server),
      status,
      ...(server !== undefined && { server }),
      drift,
      tone,
      word,
      ...(known !== undefined && { icon: known.icon }),
      needsLogin,
      needsYou: drift.length > 0 || needsLogin || ["failed", "parked", "degraded"].includes(status.state),
    };
  });
}

function aboutServer(server: McpServerStatus): string {
  const parts = [
    server.transport,
    server.server_info === undefined ? undefined : `${server.server_info.name} ${server.server_info.version}`,
    server.protocol,
    server.connected_ms === undefined ? undefined : took(server.connected_ms),
    server.restarts > 0 ? plural(server.restarts, "restart") : undefined,
  ];
  return parts.filter((part) => part !== undefined && part.trim() !== "").join(" · ");
}

function stateOf(
  status: SourceStatus,
  hasDrift: boolean,
  needsLogin: boolean,
): { readonly tone: Tone; readonly word: string } {
  if (needsLogin) return { tone: "setup", word: "log in" };
  switch (status.state) {
    case "failed":
      return { tone: "error", word: "failed" };
    case "connecting":
    case "configured":
      return { tone: "running", word: status.state === "connecting" ? "connecting" : "not started" };
    case "parked":
      return { tone: "error", word: "parked" };
    case "disabled":
      return { tone: "cancelled", word: "off" };
    case "degraded":
      return hasDrift ? { tone: "asked", word: "changed" } : { tone: "timeout", word: "in part" };
    default:
      return hasDrift ? { tone: "asked", word: "changed" } : { tone: "ok", word: "ready" };
  }
}

/** The sentence of a row: who, what, and what next. */
export function messageOf(row: SourceRow, now: number): string {
  const { status, drift } = row;
  if (drift.length > 0) {
    const names = drift.map(({ tool }) => tool).join(", ");
    const others = status.tools.length - drift.length;
    const rest = others <= 0 ? "" : `, ${plural(others, "other tool")} ${others === 1 ? "works" : "work"}`;
    return `${names} changed since you accepted ${drift.length === 1 ? "it" : "them"}; held back${rest}.`;
  }
  const next = status.next_retry;
  const again = next === undefined ? "" : ` Next try in ${clock(next - now)}.`;
  if (status.reason !== undefined) {
    const words = row.server?.stderr.findLast((line) => line.trim() !== "")?.trim();
    const isNew = words !== undefined && !status.reason.includes(words) && status.state !== "ready";
    return `${sentence(isNew ? `${status.reason}: ${words}` : status.reason)}${again}`;
  }
  const left = status.quarantined.length;
  const tools = plural(status.tools.length, "tool");
  if (status.state === "connecting" && status.tools.length > 0)
    return `${tools} known from before are offered already.`;
  return `${tools}${left > 0 ? `, ${left} left out` : ""}${again}`;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

function clock(ms: number): string {
  const text = left(ms);
  return text.includes(":") ? text : `0:${text.padStart(2, "0")}`;
}
