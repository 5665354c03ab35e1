import type { CommandContext } from "./globals.js";
import { describeStatus } from "./mcp-report.js";
import { configuredServer, exitCodeFor, tested, withServers } from "./mcp-servers.js";

export async function run(context: CommandContext, [name = ""]: readonly string[]): Promise<void> {
  const { out } = context;
  await withServers(context, async ({ runtime, connect }) => {
    const server = configuredServer(runtime.config, name);
    const source = await connect({ servers: { [name]: server } });
    const status = await tested(source, name);
    if (out.json) out.value(status);
    else for (const line of describeStatus(status, out)) out.line(line);
    process.exitCode = exitCodeFor(status);
  });
}
