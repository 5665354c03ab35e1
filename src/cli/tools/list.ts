import { type CommandContext, withRuntime } from "../context.js";
import { brief } from "../output.js";

export async function list(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const { color } = out;
  const all = await withRuntime(context, (runtime) => runtime.listTools());
  const rows = options.all === true ? all : all.filter((tool) => tool.enabled);
  out.list({
    rows,
    cells: (tool) => [
      out.mark(!tool.enabled ? "warning" : tool.available ? "ok" : "error"),
      `${out.emoji(tool.emoji)}${tool.name}`,
      color.dim(tool.toolset),
      tool.enabled && !tool.available
        ? color.yellow(`${tool.reason ?? "not available"}${tool.fix === undefined ? "" : ` → ${tool.fix}`}`)
        : brief(tool.description),
    ],
  });
  const off = all.length - rows.length;
  out.line(color.dim(`${rows.length} tools${off > 0 ? `, ${off} switched off (--all shows them)` : ""}`));
}
