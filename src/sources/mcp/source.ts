import { isDeepStrictEqual } from "node:util";
import { canonicalJson } from "../../base/canonical-json.js";
import { aborted } from "../../base/deadline.js";
import { sha256 } from "../../base/hash.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import type { LoadedConfig } from "../../config/types.js";
import type { SourceHost, SourceStatus, ToolSource } from "../types.js";
import { Gate } from "./gate.js";
import type { PinRows } from "./pin-rows.js";
import { openPinRows, ServerPins } from "./pins.js";
import { McpServer } from "./server.js";
import { ServerPrograms } from "./server-programs.js";
import { type DefinitionDrift, type McpServerStatus, type ShownChange, sourceStatus } from "./status.js";

export type { McpServerStatus } from "./status.js";

/** All MCP servers of the configuration. */
export interface McpSource extends ToolSource {
  readonly kind: "mcp";
  servers(): readonly McpServerStatus[];
  /** Looks whether a server answers now, connecting to it if need be; undefined when there is none of that name. */
  test(name: string): Promise<McpServerStatus | undefined>;
  /** Connects anew; undefined when there is none of that name. */
  reconnect(name: string): Promise<McpServerStatus | undefined>;
  /** Tools of a server that say something else than was approved, with both definitions. */
  drift(name: string): readonly DefinitionDrift[];
  /**
   * Agrees to what a tool, or each tool, of a server says now, or to a change that was shown and to no other. The
   * tools it concerned; undefined without such a server.
   */
  approveChange(server: string, which?: string | ShownChange): readonly string[] | undefined;
}

export function createMcpSource(host: SourceHost): McpSource {
  return new McpServers(host);
}

class McpServers implements McpSource {
  readonly kind = "mcp";
  readonly #host: SourceHost;
  readonly #gate: Gate;
  readonly #programs = new ServerPrograms();
  readonly #servers = new Map<string, McpServer>();
  /** No longer wanted, but calls still run on them. */
  readonly #retiring = new Set<McpServer>();
  #rows: PinRows | undefined;

  constructor(host: SourceHost) {
    this.#host = host;
    this.#gate = new Gate(host.config.values.mcp.connect_concurrency);
  }

  async start(): Promise<void> {
    this.#rows = await openPinRows(() => this.#host.store(), this.#host.log);
    this.#startMissing(this.#host.config.values.mcp_servers);
  }

  async settled(signal?: AbortSignal): Promise<void> {
    const all = Promise.all([...this.#servers.values()].map(({ settled }) => settled));
    if (signal === undefined) await all;
    else await Promise.race([all, aborted(signal)]);
  }

  async refresh(config: LoadedConfig): Promise<void> {
    const wanted = config.values.mcp_servers;
    const outdated = [...this.#servers.values()].filter(
      (server) =>
        !Object.hasOwn(wanted, server.name) || !isDeepStrictEqual(wanted[server.name], server.config),
    );
    await Promise.all(
      outdated.map(async (server) => {
        this.#servers.delete(server.name);
        const keepTools = Object.hasOwn(wanted, server.name);
        // A call that runs is not cut off, and nobody waits for it either.
        if (server.isBusy) this.#retire(server, keepTools);
        else await server.close({ keepTools });
      }),
    );
    for (const server of this.#servers.values()) server.settingsRead();
    this.#startMissing(wanted);
  }

  #retire(server: McpServer, keepTools: boolean): void {
    this.#retiring.add(server);
    void server.retire({ keepTools }).finally(() => this.#retiring.delete(server));
  }

  #startMissing(wanted: Readonly<Record<string, McpServerConfig>>): void {
    const { log } = this.#host;
    for (const [name, config] of Object.entries(wanted)) {
      if (this.#servers.has(name)) continue;
      const pins = new ServerPins({ server: name, identity: identityOf(config), rows: this.#rows, log });
      const server = new McpServer({
        name,
        config,
        host: this.#host,
        pins,
        gate: this.#gate,
        programs: this.#programs,
      });
      this.#servers.set(name, server);
      server.start();
    }
  }

  status(): readonly SourceStatus[] {
    return this.servers().map(sourceStatus);
  }

  servers(): readonly McpServerStatus[] {
    return [...this.#servers.values()].map((server) => server.status());
  }

  async test(name: string): Promise<McpServerStatus | undefined> {
    return this.#servers.get(name)?.test();
  }

  async reconnect(name: string): Promise<McpServerStatus | undefined> {
    const server = this.#servers.get(name);
    await server?.reconnect();
    return server?.status();
  }

  drift(name: string): readonly DefinitionDrift[] {
    return this.#servers.get(name)?.drift() ?? [];
  }

  approveChange(server: string, which?: string | ShownChange): readonly string[] | undefined {
    return this.#servers.get(server)?.approveChange(which);
  }

  async close(): Promise<void> {
    const servers = [...this.#servers.values()];
    this.#servers.clear();
    await Promise.all([
      ...servers.map((server) => server.close()),
      ...[...this.#retiring].map((server) => server.close({ keepTools: true })),
    ]);
    await this.#programs.close();
  }
}

/**
 * Tells one server from another behind the same name: what was learned about a program or an address says nothing
 * about a different one. Made of the settings as they are written, so no secret is in it.
 */
function identityOf(config: McpServerConfig): string {
  const { command, args, env, cwd, url } = config;
  return sha256(canonicalJson({ command, args, env, cwd, url }));
}
