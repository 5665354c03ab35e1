import { setTimeout as pause } from "node:timers/promises";
import { visible } from "../base/visible-text.js";
import type { McpServerStatus } from "../sources/mcp/status.js";
import type { CommandContext } from "./globals.js";
import { untilThen } from "./mcp-report.js";
import { USABLE, withServers } from "./mcp-servers.js";
import { brief, type Output, table } from "./output.js";

/** Somebody is waiting for the table; what has not answered by then is shown as connecting. */
const WAIT_SECONDS = 15;

export async function run(context: CommandContext): Promise<void> {
  const { out, flags } = context;
  await withServers(context, async ({ runtime, connect }) => {
    const servers = runtime.config.values.mcp_servers;
    const source = await connect({ servers });
    const seconds = Number(flags.timeout ?? WAIT_SECONDS);
    const enough = new AbortController();
    await Promise.race([
      Promise.all(Object.keys(servers).map((name) => source.test(name))),
      pause((seconds > 0 ? seconds : WAIT_SECONDS) * 1000, undefined, { signal: enough.signal }).catch(
        () => undefined,
      ),
    ]);
    enough.abort();
    const found = source.servers();
    if (out.json) {
      out.values(found);
      return;
    }
    if (found.length === 0) {
      out.line("No MCP servers.");
      out.note("Add one: hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem .");
      return;
    }
    const head = ["server", "state", "transport", "tools", "about"];
    for (const line of table([head, ...found.map((status) => rowOf(status, out))])) out.line(line);
  });
}

function rowOf(status: McpServerStatus, out: Output): readonly string[] {
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
