import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";

export async function run(
  { out, runtime: open }: CommandContext,
  _args: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const runtime = await open();
  const all = await runtime.listTools();
  const tools = options.all === true ? all : all.filter((tool) => tool.enabled);
  if (out.json) out.values(tools);
  else {
    const { color } = out;
    const rows = tools.map((tool) => [
      out.mark(!tool.enabled ? "warning" : tool.available ? "ok" : "error"),
      `${out.emoji(tool.emoji)}${tool.name}`,
      color.dim(tool.toolset),
      tool.enabled && !tool.available
        ? color.yellow(`${tool.reason ?? "not available"}${tool.fix === undefined ? "" : ` → ${tool.fix}`}`)
        : brief(tool.description),
    ]);
    for (const line of table(rows)) out.line(line);
    const off = all.length - tools.length;
    out.line(color.dim(`${tools.length} tools${off > 0 ? `, ${off} switched off (--all shows them)` : ""}`));
  }
  await runtime.close();
}
