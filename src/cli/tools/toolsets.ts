import { nearest } from "../../config/did-you-mean.js";
import { type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";

export async function toolsets(context: CommandContext): Promise<void> {
  const { out } = context;
  const [name] = context.args;
  await withRuntime(context, async (runtime) => {
    const installed = new Set(runtime.registry.snapshot().entries.keys());
    const all = runtime
      .toolsets()
      .map((toolset) => ({ ...toolset, installed: toolset.resolved.filter((tool) => installed.has(tool)) }));
    if (name === undefined) {
      return out.list({
        rows: all,
        cells: (toolset) => [
          toolset.name,
          out.color.dim(toolset.kind),
          `${toolset.installed.length}/${toolset.resolved.length}`,
          toolset.description,
        ],
      });
    }
    const one = all.find((toolset) => toolset.name === name);
    if (one === undefined) {
      const close = nearest(
        name,
        all.map((toolset) => toolset.name),
      );
      const hint = close.length > 0 ? `Did you mean ${close.join(", ")}?` : 'Run "hermes toolsets".';
      throw commandError("not_found", `Unknown toolset: ${name}`, hint);
    }
    if (out.json) return out.value(one);
    for (const tool of one.resolved) {
      const here = installed.has(tool);
      out.line(
        `${out.mark(here ? "ok" : "warning")} ${tool}${here ? "" : out.color.dim("  not in this version")}`,
      );
    }
  });
}
