import { visible } from "../../base/visible-text.js";
import { didYouMean } from "../../config/did-you-mean.js";
import { readLayer } from "../../config/layer.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { nodeFrom } from "../../config/node.js";
import type { LoadedConfig } from "../../config/types.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { McpSource } from "../../sources/mcp/source.js";
import type { McpServerStatus } from "../../sources/mcp/status.js";
import type { SourceHost } from "../../sources/types.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { brief, type Output } from "../output.js";
import { tellingWhatFor } from "../wait-for-servers.js";

/** A section of `mcp_servers` as it would be written. */
export type ServerSection = Readonly<Record<string, unknown>>;

/** The same with every default, judged by the rules of the configuration file. */
export function checkedServer(name: string, section: ServerSection): McpServerConfig {
  const root = nodeFrom({ mcp_servers: { [name]: section } });
  let complaint: { readonly message: string; readonly hint?: string | undefined } | undefined;
  const entries =
    root.kind === "map"
      ? readLayer(root, (finding) => {
          complaint ??= finding.severity === "error" ? finding : undefined;
        })
      : new Map();
  const servers = entries.get("mcp_servers")?.value as Record<string, McpServerConfig> | undefined;
  const server = servers?.[name];
  if (complaint !== undefined || server === undefined) {
    const message = complaint?.message ?? `${name} cannot be used as a server`;
    throw commandError("bad_request", message, complaint?.hint);
  }
  return server;
}

export function configuredServer({ values }: LoadedConfig, name: string): McpServerConfig {
  const server = Object.hasOwn(values.mcp_servers, name) ? values.mcp_servers[name] : undefined;
  if (server !== undefined) return server;
  const names = Object.keys(values.mcp_servers);
  const known = names.length === 0 ? "there are none; see hermes mcp add" : `there are ${names.join(", ")}`;
  throw commandError("not_found", `no MCP server is called ${name}`, didYouMean(name, names) ?? known);
}

interface Connecting {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** Secrets that are not written down yet; the servers' settings name them. */
  readonly secrets?: readonly { readonly name: string; readonly value: string }[];
}

/** Works with the servers that are named alone: no other one is started. */
export async function withServers<T>(
  context: CommandContext,
  work: (parts: {
    readonly runtime: Runtime;
    connect(connecting: Connecting): Promise<McpSource>;
  }) => Promise<T>,
): Promise<T> {
  const runtime = await context.runtime({ userTools: false });
  const open: McpSource[] = [];
  try {
    return await work({
      runtime,
      async connect(connecting) {
        const { createMcpSource } = await import("../../sources/mcp/source.js");
        const source = createMcpSource(hostOf(runtime, connecting));
        open.push(source);
        await source.start();
        return source;
      },
    });
  } finally {
    await Promise.all(open.map((source) => source.close()));
    await runtime.close();
  }
}

function hostOf(runtime: Runtime, { servers, secrets = [] }: Connecting): SourceHost {
  const { config } = runtime;
  for (const { name, value } of secrets) runtime.secrets.add(name, value);
  const env = { ...config.env, ...Object.fromEntries(secrets.map(({ name, value }) => [name, value])) };
  return {
    config: { ...config, env, values: { ...config.values, mcp_servers: servers } },
    cwd: runtime.cwd,
    registry: runtime.registry,
    hooks: runtime.hooks,
    events: runtime.events,
    log: runtime.log,
    secrets: runtime.secrets,
    redact: runtime.redact,
    store: () => runtime.store(),
  };
}

export async function testServer(
  source: McpSource,
  { name, server, out }: { readonly name: string; readonly server: McpServerConfig; readonly out: Output },
): Promise<McpServerStatus> {
  const what = `MCP server ${name}`;
  const status = await tellingWhatFor(source.test(name), { out, what, seconds: server.connect_timeout });
  if (status === undefined) throw commandError("not_found", `no MCP server is called ${name}`);
  return status;
}

export const USABLE: ReadonlySet<McpServerStatus["state"]> = new Set(["ready", "degraded"]);

/** What a script is told about a server that cannot be used. */
export function exitCodeFor({ state, reason = "", fix = "" }: McpServerStatus): number {
  if (USABLE.has(state)) return EXIT.ok;
  if (state === "disabled") return EXIT.unavailable;
  if (fix.includes("mcp login")) return EXIT.authentication;
  return /did not answer within|timed out/.test(reason) ? EXIT.timeout : EXIT.unreachable;
}

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
