import { didYouMean } from "../config/did-you-mean.js";
import { readLayer } from "../config/layer.js";
import type { McpServerConfig } from "../config/mcp-server.js";
import { nodeFrom } from "../config/node.js";
import type { LoadedConfig } from "../config/types.js";
import type { Runtime } from "../runtime/runtime.js";
import type { McpSource } from "../sources/mcp/source.js";
import type { McpServerStatus } from "../sources/mcp/status.js";
import type { SourceHost } from "../sources/types.js";
import { failure, HermesError } from "../tool/errors.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";

/** A section of `mcp_servers` as it would be written. */
export type ServerSection = Readonly<Record<string, unknown>>;

/** The same with every default, judged by the rules of the configuration file. */
export function checkedServer(name: string, section: ServerSection): McpServerConfig {
  const root = nodeFrom({ mcp_servers: { [name]: section } });
  let complaint: { readonly message: string; readonly hint?: string } | undefined;
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
    throw new HermesError(failure("bad_request", message, complaint?.hint));
  }
  return server;
}

export function configuredServer({ values }: LoadedConfig, name: string): McpServerConfig {
  const server = Object.hasOwn(values.mcp_servers, name) ? values.mcp_servers[name] : undefined;
  if (server !== undefined) return server;
  const names = Object.keys(values.mcp_servers);
  const known = names.length === 0 ? "there are none; see hermes mcp add" : `there are ${names.join(", ")}`;
  throw new HermesError(
    failure("not_found", `no MCP server is called ${name}`, didYouMean(name, names) ?? known),
  );
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
        const { createMcpSource } = await import("../sources/mcp/source.js");
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
    redact: (text) => runtime.secrets.redact(text),
    store: () => runtime.store(),
  };
}

export async function tested(source: McpSource, name: string): Promise<McpServerStatus> {
  const status = await source.test(name);
  if (status === undefined) throw new HermesError(failure("not_found", `no MCP server is called ${name}`));
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
