import { visible } from "../base/visible-text.js";
import type { McpServerConfig } from "../config/mcp-server.js";
import type { McpServerStatus } from "../sources/mcp/status.js";
import { USABLE } from "./mcp-servers.js";
import { brief, type Output } from "./output.js";

/** Programs that fetch what they run. */
const FETCHES = /^(?:npx|bunx|uvx|pipx|docker|podman)$/;

/** Exactly what will be started or reached; values that may be secret are not shown. */
export function describeServer(name: string, server: McpServerConfig): readonly string[] {
  const lines = [`server ${name}`];
  if (server.command !== "") {
    lines.push(`  starts   ${[server.command, ...server.args].map(quoted).join(" ")}`);
    if (server.cwd !== "") lines.push(`  in       ${quoted(server.cwd)}`);
    const names = Object.keys(server.env);
    if (names.length > 0) lines.push(`  sees     ${names.map(visible).join(", ")}`);
    const program = server.command.split(/[/\\]/).at(-1) ?? "";
    if (FETCHES.test(program))
      lines.push(`  note     ${program} fetches code of others and runs it with your rights`);
  } else {
    lines.push(`  reaches  ${visible(server.url)}`);
    const names = Object.keys(server.headers);
    if (names.length > 0) lines.push(`  sends    ${names.map(visible).join(", ")}`);
    if (server.auth !== "none") lines.push(`  login    ${server.auth}`);
  }
  const { include, exclude } = server.tools;
  if (include.length > 0) lines.push(`  only     ${include.map(visible).join(", ")}`);
  if (exclude.length > 0) lines.push(`  without  ${exclude.map(visible).join(", ")}`);
  return lines;
}

/** As one would type it, so that where a word ends can be seen. */
function quoted(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : visible(JSON.stringify(word));
}

export function describeStatus(status: McpServerStatus, out: Output): readonly string[] {
  const { name, state, reason, fix, tools, quarantined, changed, stderr } = status;
  const usable = USABLE.has(state);
  const lines = [
    `${out.mark(usable ? "ok" : "error")} ${name}: ${state}${reason === undefined ? "" : `, ${visible(reason)}`}`,
  ];
  if (fix !== undefined) lines.push(`  ${out.color.dim(`→ ${visible(fix)}`)}`);
  if (usable) {
    const known = status.server_info;
    const who = known === undefined ? "" : `${visible(known.name)} ${visible(known.version)}, `;
    const time = status.connected_ms === undefined ? "" : `, ${Math.round(status.connected_ms)} ms`;
    lines.push(`  ${who}${status.transport}, protocol ${status.protocol ?? "?"}${time}`);
    lines.push(`  ${tools.length} tools`, ...tools.map((tool) => `    ${tool}`));
  }
  for (const { name: tool, reason: why } of quarantined)
    lines.push(`  ${out.mark("warning")} ${visible(tool)} is left out: ${visible(why)}`);
  for (const { tool, change } of changed)
    lines.push(`  ${out.mark("warning")} ${visible(tool)} has changed: ${brief(visible(change), 200)}`);
  if (changed.length > 0) lines.push(`  ${out.color.dim(`→ hermes mcp approve ${name}`)}`);
  if (!usable && stderr.length > 0)
    lines.push("  it wrote last:", ...stderr.map((line) => `    ${visible(line)}`));
  return lines;
}

/** `in 12 s`, for a time that is to come. */
export function untilThen(at: number | undefined): string {
  if (at === undefined) return "";
  return `in ${Math.max(0, Math.round((at - Date.now()) / 1000))} s`;
}
