import { unsetConfigValue } from "../config/edit.js";
import { failure, HermesError } from "../tool/errors.js";
import { confirmed } from "./confirm.js";
import type { CommandContext } from "./globals.js";
import { describeServer } from "./mcp-report.js";
import { configuredServer, withServers } from "./mcp-servers.js";

export async function run(context: CommandContext, [name = ""]: readonly string[]): Promise<void> {
  const { out, home } = context;
  await withServers(context, async ({ runtime }) => {
    const server = configuredServer(runtime.config, name);
    if (!out.json) process.stderr.write(`${describeServer(name, server).join("\n")}\n`);
    if (
      !(await confirmed({
        question: "Remove this server, its login and what was approved of it?",
        yes: context.flags.yes === true,
      }))
    )
      throw new HermesError(failure("denied", "nothing was removed"));
    const done = await unsetConfigValue({ home, key: `mcp_servers.${name}` });
    if (!done.ok) throw new HermesError(done);
    if (!done.changed)
      throw new HermesError(
        failure("unavailable", `${name} is not written in ${done.file}`, "Take it out where it is written."),
      );
    const [{ forgetTokens }, { PinRows }] = await Promise.all([
      import("../sources/mcp/oauth/token-store.js"),
      import("../sources/mcp/pin-rows.js"),
    ]);
    const tokens = forgetTokens(home, name);
    const store = await runtime.store();
    new PinRows(store.db).forget(name);
    if (out.json) out.value({ name, removed: true, tokens_removed: tokens });
    else out.line(`${out.mark("ok")} ${name} removed${tokens ? ", and its login forgotten" : ""}`);
    const kept = JSON.stringify(server).match(/(?<=\$\{)MCP_\w+(?=\})/g);
    if (kept !== null) out.note(`still in ${runtime.config.paths.dotenv}: ${kept.join(", ")}`);
  });
}
