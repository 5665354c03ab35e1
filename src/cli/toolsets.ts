import { nearest } from "../config/did-you-mean.js";
import { failure, HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

export async function run({ out, runtime: open }: CommandContext, [name]: readonly string[]): Promise<void> {
  const runtime = await open();
  const installed = new Set(runtime.registry.snapshot().entries.keys());
  const all = runtime
    .toolsets()
    .map((toolset) => ({ ...toolset, installed: toolset.resolved.filter((tool) => installed.has(tool)) }));
  const shown = name === undefined ? all : all.filter((toolset) => toolset.name === name);
  if (shown.length === 0) {
    const close = nearest(
      name ?? "",
      all.map((toolset) => toolset.name),
    );
    throw new HermesError(
      failure(
        "not_found",
        `Unknown toolset: ${name ?? ""}`,
        close.length > 0 ? `Did you mean ${close.join(", ")}?` : 'Run "hermes toolsets".',
      ),
    );
  }
  if (out.json && name !== undefined) out.value(shown[0]);
  else if (out.json) out.values(shown);
  else if (name !== undefined) {
    for (const tool of shown[0]?.resolved ?? [])
      out.line(
        `${out.mark(installed.has(tool) ? "ok" : "warning")} ${tool}${installed.has(tool) ? "" : out.color.dim("  not in this version")}`,
      );
  } else {
    const rows = shown.map((toolset) => [
      toolset.name,
      out.color.dim(toolset.kind),
      `${toolset.installed.length}/${toolset.resolved.length}`,
      toolset.description,
    ]);
    for (const line of table(rows)) out.line(line);
  }
  await runtime.close();
}
