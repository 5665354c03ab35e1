import { within } from "../base/deadline.js";
import type { McpServerStatus, McpSource } from "../sources/mcp/source.js";
import type { Finding } from "./doctor.js";
import type { Runtime } from "./runtime.js";

/** Nobody waits longer than this for a server that hangs. */
const PATIENCE_MS = 10_000;

/** MCP servers that cannot be used, tools of theirs that are left out, and those that wait for a person. */
export async function examineServers({ sources }: Runtime): Promise<readonly Finding[]> {
  const source = sources.get("mcp") as McpSource | undefined;
  if (source === undefined) return [];
  const looks = source.servers().map(({ name }) => source.test(name));
  await within(Promise.allSettled(looks), PATIENCE_MS);
  return source.servers().flatMap(findingsOf);
}

function findingsOf({ name, state, reason, fix, tools, quarantined, changed }: McpServerStatus): Finding[] {
  if (state === "disabled") return [];
  const group = "Tools";
  const usable = state === "ready" || state === "degraded";
  const why = reason === undefined ? "" : `: ${reason}`;
  const help = fix ?? (usable ? undefined : `see hermes mcp test ${name}`);
  return [
    {
      group,
      level: state === "ready" ? "ok" : "warning",
      what: usable
        ? `MCP server ${name}: ${tools.length} tools${why}`
        : `MCP server ${name} is ${state}${why}`,
      ...(help !== undefined && { fix: help }),
    },
    ...quarantined.map(
      (tool): Finding => ({
        group,
        level: "warning",
        what: `${tool.name} of ${name} is left out: ${tool.reason}`,
      }),
    ),
    ...changed.map(
      ({ tool }): Finding => ({
        group,
        level: "warning",
        what: `${tool} of ${name} is not what it was when it was first used`,
        fix: `look at it with hermes mcp approve ${name}`,
      }),
    ),
  ];
}
