import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

/** Whether a model sees a tool, and the rule that decided. */
export async function run({ out, runtime: open }: CommandContext, [name]: readonly string[]): Promise<void> {
  const runtime = await open();
  const canonical = name === undefined ? undefined : runtime.canonicalName(name);
  const names = async (toolSearch: boolean) =>
    new Set(
      (await runtime.getToolDefinitions({ quiet: true, toolSearch })).map(
        (definition) => definition.function.name,
      ),
    );
  const [offered, listed] = [await names(false), await names(true)];
  const rows = (await runtime.listTools())
    .filter((tool) => canonical === undefined || tool.name === canonical)
    .map((tool) => ({ ...tool, shown: [tool.name, ...tool.aliases].find((name) => offered.has(name)) }))
    .map(({ shown, ...tool }) => ({
      name: tool.name,
      offered: tool.enabled && tool.available,
      shown_as: shown ?? null,
      behind_search: shown !== undefined && !listed.has(shown),
      enabled: tool.enabled,
      because: tool.because,
      available: tool.available,
      reason: tool.reason ?? null,
      fix: tool.fix ?? null,
      toolset: tool.toolset,
      provenance: tool.provenance,
    }));
  if (out.json && canonical !== undefined) out.value(rows[0]);
  else if (out.json) out.values(rows);
  else {
    const lines = rows.map((row) => [
      out.mark(row.offered ? "ok" : row.enabled ? "error" : "warning"),
      row.name,
      row.enabled
        ? row.available
          ? `${row.because}${row.behind_search ? "; a model finds it with Tool Search" : ""}`
          : `${row.because}, but ${row.reason ?? "not available"}${row.fix === null ? "" : ` → ${row.fix}`}`
        : row.because,
    ]);
    for (const line of table(lines)) out.line(line);
  }
  await runtime.close();
}
