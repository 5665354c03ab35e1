import { quoteForShell } from "../../base/quote.js";
import type { Runtime } from "../../runtime/runtime.js";
import { toolUse } from "../../runtime/tool-use.js";
import { searchable } from "../../search/catalogue.js";
import { isHardlyUsed } from "../../search/tool-use.js";
import { whyFound } from "../../search/types.js";
import { describeSignature } from "../../tool/signature.js";
import { aboutTools, type CommandContext, withRuntime } from "../context.js";
import type { Output } from "../output.js";

export async function info(context: CommandContext): Promise<void> {
  const [name = ""] = context.args;
  await withRuntime(aboutTools(context, [name]), (runtime) => show({ runtime, name, out: context.out }));
}

async function show({
  runtime,
  name,
  out,
}: {
  readonly runtime: Runtime;
  readonly name: string;
  readonly out: Output;
}): Promise<void> {
  const canonical = runtime.canonicalName(name);
  const listing = (await runtime.listTools()).find((tool) => tool.name === canonical);
  const entry = runtime.registry.get(canonical);
  if (listing === undefined || entry === undefined)
    throw new Error(`${canonical} vanished while it was looked up`);
  const { color } = out;
  // Code that does not load is told by `state` below; its examples are not worth an error.
  const examples = (await entry.load().catch(() => undefined))?.examples ?? [];
  if (out.json)
    out.value({
      ...listing,
      parameters: entry.parameters,
      output: entry.output,
      examples: examples.length > 0 ? examples : undefined,
    });
  else {
    out.line(
      `${out.emoji(listing.emoji)}${color.bold(listing.name)}${listing.aliases.length > 0 ? color.dim(` (also ${listing.aliases.join(", ")})`) : ""}`,
    );
    out.line(listing.description);
    out.line();
    out.line(describeSignature(listing.name, entry.parameters));
    out.line();
    out.line(`toolset      ${listing.toolset}`);
    out.line(`permissions  ${listing.permissions.join(", ") || "none"}`);
    out.line(
      `from         ${listing.provenance.kind}${listing.provenance.source === undefined ? "" : ` ${listing.provenance.source}`}`,
    );
    out.line(`state        ${listing.enabled ? "on" : "off"}: ${listing.because}`);
    out.line(
      `             ${listing.available ? "ready" : `not available: ${listing.reason ?? ""}${listing.fix === undefined ? "" : ` → ${listing.fix}`}`}`,
    );
    out.line();
    out.line(JSON.stringify(entry.parameters, null, 2));
    for (const example of examples) {
      out.line();
      out.line(`${color.bold(example.title)}:`);
      out.line(`hermes call ${listing.name} ${quoteForShell(JSON.stringify(example.arguments))}`);
      out.line(color.dim(`→ ${JSON.stringify(example.result)}`));
    }
  }
}

/** Whether a model sees a tool, and the rule that decided. */
export async function explain(context: CommandContext): Promise<void> {
  const [name] = context.args;
  const about = name === undefined ? context : aboutTools(context, [name]);
  const { request } = context.options;
  await withRuntime(about, async (runtime) => {
    await explainTools({ runtime, name, out: context.out });
    if (name !== undefined && typeof request === "string")
      await explainPlace({ runtime, name: runtime.canonicalName(name), request, out: context.out });
  });
}

/** Which place a request gives a tool among all that are switched on. */
async function explainPlace({
  runtime,
  name,
  request,
  out,
}: {
  readonly runtime: Runtime;
  readonly name: string;
  readonly request: string;
  readonly out: Output;
}): Promise<void> {
  const on = (await runtime.listTools()).filter((tool) => tool.enabled);
  const entries = on.flatMap((tool) => runtime.registry.get(tool.name) ?? []);
  const finder = await runtime.finderFor(entries.map(searchable));
  const hits = await finder.search(request, { limit: entries.length });
  const at = hits.findIndex(({ index }) => entries[index]?.name === name);
  const why = at < 0 ? "not found" : `place ${at + 1} of ${entries.length}: ${whyFound(hits[at]?.marks)}`;
  out.note(`${JSON.stringify(request)}: ${why}`);
}

async function explainTools({
  runtime,
  name,
  out,
}: {
  readonly runtime: Runtime;
  readonly name: string | undefined;
  readonly out: Output;
}): Promise<void> {
  const canonical = name === undefined ? undefined : runtime.canonicalName(name);
  const names = async (toolSearch: boolean) =>
    new Set(
      (await runtime.getToolDefinitions({ quiet: true, toolSearch })).map(
        (definition) => definition.function.name,
      ),
    );
  const [offered, listed] = [await names(false), await names(true)];
  const use = await toolUse(runtime);
  const hiddenBecause = (tool: string): string | undefined =>
    use !== undefined && isHardlyUsed(use, tool)
      ? `called ${use.calls.get(tool) ?? 0} times in the last ${use.days} days (tools.tool_search.auto_defer)`
      : undefined;
  const rows = (await runtime.listTools())
    .filter((tool) => canonical === undefined || tool.name === canonical)
    .map((tool) => ({ ...tool, shown: [tool.name, ...tool.aliases].find((name) => offered.has(name)) }))
    .map(({ shown, ...tool }) => ({
      name: tool.name,
      offered: tool.enabled && tool.available && shown !== undefined,
      shown_as: shown ?? null,
      behind_search: shown !== undefined && !listed.has(shown),
      ...(shown !== undefined && !listed.has(shown) && { hidden_because: hiddenBecause(tool.name) }),
      enabled: tool.enabled,
      because:
        tool.enabled && tool.available && shown === undefined
          ? `${tool.because}, but only an agent loop can offer it`
          : tool.because,
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
          ? `${row.because}${row.behind_search ? `; a model finds it with Tool Search${row.hidden_because === undefined ? "" : `: ${row.hidden_because}`}` : ""}`
          : `${row.because}, but ${row.reason ?? "not available"}${row.fix === null ? "" : ` → ${row.fix}`}`
        : row.because,
    ]);
    out.table(lines);
  }
}
