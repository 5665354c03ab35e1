import { within } from "../../base/deadline.js";
import { visible } from "../../base/visible-text.js";
import type { McpServerStatus } from "../../sources/mcp/status.js";
import type { CommandContext } from "../context.js";
import { brief, type Output } from "../output.js";
import { tellingWhatFor } from "../wait-for-servers.js";
import {
  configuredServer,
  describeStatus,
  exitCodeFor,
  testServer,
  USABLE,
  untilThen,
  withServers,
} from "./servers.js";

/** Somebody is waiting for the table; what has not answered by then is shown as connecting. */
const WAIT_SECONDS = 15;

export async function list(context: CommandContext): Promise<void> {
  const { out, flags } = context;
  await withServers(context, async ({ runtime, connect }) => {
    const servers = runtime.config.values.mcp_servers;
    const source = await connect({ servers });
    const seconds = Number(flags.timeout ?? WAIT_SECONDS) || WAIT_SECONDS;
    const names = Object.keys(servers);
    const looks = within(Promise.all(names.map((name) => source.test(name))), seconds * 1000);
    await tellingWhatFor(looks, { out, what: `MCP servers (${names.join(", ")})`, seconds });
    const rows = source.servers();
    const head = ["server", "state", "transport", "tools", "about"];
    out.list({ rows, head, cells: (status) => cells(status, out), empty: "No MCP servers." });
    if (rows.length === 0)
      out.note("Add one: hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem .");
  });
}

function cells(status: McpServerStatus, out: Output): readonly string[] {
  const { name, state, transport, tools, reason, fix, quarantined, changed } = status;
  const paint = USABLE.has(state) ? out.color.green : state === "disabled" ? out.color.dim : out.color.yellow;
  const about = [
    reason,
    fix === undefined ? undefined : `→ ${fix}`,
    status.next_retry === undefined ? undefined : `tried again ${untilThen(status.next_retry)}`,
    quarantined.length === 0 ? undefined : `${quarantined.length} left out`,
    changed.length === 0 ? undefined : `${changed.length} changed, see hermes mcp approve ${name}`,
  ].filter((part) => part !== undefined);
  return [name, paint(state), transport, String(tools.length), brief(visible(about.join("; ")), 120)];
}

export async function test(context: CommandContext): Promise<void> {
  const { out } = context;
  const [name = ""] = context.args;
  await withServers(context, async ({ runtime, connect }) => {
    const server = configuredServer(runtime.config, name);
    const source = await connect({ servers: { [name]: server } });
    const status = await testServer(source, { name, server, out });
    if (out.json) out.value(status);
    else for (const line of describeStatus(status, out)) out.line(line);
    process.exitCode = exitCodeFor(status);
  });
}
