import { visible } from "../../base/visible-text.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson, confirm } from "../person.js";
import { configuredServer, describeStatus, exitCodeFor, testServer, USABLE, withServers } from "./servers.js";

/** A call of a tool that has changed asks; here a person sees all changes of a server and accepts them beforehand. */
export async function approve(context: CommandContext): Promise<void> {
  const { out } = context;
  const [name = "", tool] = context.args;
  assertPerson("Changed definitions are accepted by a person");
  await withServers(context, async ({ runtime, connect }) => {
    const server = configuredServer(runtime.config, name);
    const source = await connect({ servers: { [name]: server } });
    const status = await testServer(source, { name, server, out });
    if (!USABLE.has(status.state)) {
      for (const line of describeStatus(status, out)) out.note(line);
      process.exitCode = exitCodeFor(status);
      if (out.json) out.value({ name, approved: [], status });
      return;
    }
    const changes = status.changed.filter((change) => tool === undefined || change.tool === tool);
    if (changes.length === 0) {
      const what =
        tool === undefined ? `no tool of ${name} has changed` : `${tool} of ${name} has not changed`;
      if (tool !== undefined && !status.changed.some((change) => change.tool === tool))
        assertKnown(status.tools, tool, name);
      return out.result({ name, approved: [] }, what);
    }
    for (const change of changes) {
      const lines = [
        `${visible(change.tool)} has changed:`,
        ...change.change.split("; ").map((line) => `  ${visible(line)}`),
      ];
      if (!out.json) process.stderr.write(`${lines.join("\n")}\n`);
    }
    const what = changes.length === 1 ? "this change" : `these ${changes.length} changes`;
    await confirm({
      question: `Approve ${what}?`,
      yes: context.flags.yes === true,
      refused: "nothing was approved",
    });
    // What the server says may have changed once more while the person was reading.
    const [approved, missed] = [[] as string[], [] as string[]];
    for (const change of changes)
      (source.approveChange(name, change)?.length === 1 ? approved : missed).push(change.tool);
    if (missed.length > 0)
      throw commandError(
        "denied",
        `changed again meanwhile, and not approved: ${missed.map(visible).join(", ")}`,
        `Run "hermes mcp approve ${name}" once more and look at it.`,
      );
    out.result({ name, approved }, `${out.mark("ok")} approved: ${approved.map(visible).join(", ")}`);
  });
}

function assertKnown(tools: readonly string[], tool: string, server: string): void {
  if (tools.some((known) => known === tool || known.endsWith(`_${tool}`))) return;
  throw commandError("not_found", `${server} has no tool called ${tool}`);
}
