import { unsetConfigValue } from "../../config/edit.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { confirm } from "../person.js";
import { configuredServer, describeServer, withServers } from "./servers.js";

export async function remove(context: CommandContext): Promise<void> {
  const { out, home } = context;
  const [name = ""] = context.args;
  await withServers(context, async ({ runtime }) => {
    const server = configuredServer(runtime.config, name);
    if (!out.json) process.stderr.write(`${describeServer(name, server).join("\n")}\n`);
    await confirm({
      question: "Remove this server, its login and what was approved of it?",
      yes: context.flags.yes === true,
      refused: "nothing was removed",
    });
    const done = await unsetConfigValue({ home, key: `mcp_servers.${name}` });
    if (!done.ok) throw new HermesError(done);
    if (!done.changed)
      throw commandError(
        "unavailable",
        `${name} is not written in ${done.file}`,
        "Take it out where it is written.",
      );
    const [{ forgetTokens }, { PinRows }] = await Promise.all([
      import("../../sources/mcp/oauth/token-store.js"),
      import("../../sources/mcp/pin-rows.js"),
    ]);
    const tokens = forgetTokens(home, name);
    const store = await runtime.store();
    new PinRows(store.db).forget(name);
    out.result(
      { name, removed: true, tokens_removed: tokens },
      `${out.mark("ok")} ${name} removed${tokens ? ", and its login forgotten" : ""}`,
    );
    const kept = JSON.stringify(server).match(/(?<=\$\{)MCP_\w+(?=\})/g);
    if (kept !== null) out.note(`still in ${runtime.config.paths.dotenv}: ${kept.join(", ")}`);
  });
}
