import type { ToolDefinition } from "../registry/entry.js";
import type { Runtime } from "../runtime/runtime.js";
import { isDeferrable } from "../search/deferrable.js";
import { estimateTokens } from "../search/token-estimate.js";
import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

interface Sum {
  readonly tools: number;
  readonly chars: number;
  readonly tokens: number;
}

const NOTHING: Sum = { tools: 0, chars: 0, tokens: 0 };

/** The bill of the tools array, per toolset: as it is, and as it would be with and without Tool Search. */
export async function run({ out, runtime: open }: CommandContext): Promise<void> {
  const runtime = await open();
  const all = (await runtime.getToolDefinitions({ quiet: true, toolSearch: false })).map((definition) =>
    measure(definition, runtime),
  );
  const sent = await runtime.getToolDefinitions({ quiet: true });
  const toolsets = new Map<string, Sum & { readonly deferrable: number }>();
  for (const tool of all) {
    const sum = toolsets.get(tool.toolset) ?? { ...NOTHING, deferrable: 0 };
    toolsets.set(tool.toolset, {
      ...add(sum, tool),
      deferrable: sum.deferrable + (tool.deferrable ? tool.tokens : 0),
    });
  }
  const total = all.reduce(add, NOTHING);
  const hidden = all.filter((tool) => tool.deferrable).reduce(add, NOTHING);
  const sentNames = new Set(sent.map((definition) => definition.function.name));
  const active = all.some((tool) => !sentNames.has(tool.name));
  const sentTokens = sent.reduce((sum, definition) => sum + estimateTokens(definition), 0);
  const search = {
    active,
    sent_tokens: sentTokens,
    without_tokens: total.tokens,
    hidden_tools: active ? hidden.tools : 0,
    saved_pct: total.tokens === 0 ? 0 : Math.round((1 - sentTokens / total.tokens) * 1000) / 10,
  };
  if (out.json) {
    out.value({ total, tool_search: search, toolsets: Object.fromEntries(toolsets), tools: all });
  } else {
    const rows = [...toolsets]
      .sort((a, b) => b[1].tokens - a[1].tokens)
      .map(([name, sum]) => [
        name,
        `${sum.tools} tools`,
        `${sum.tokens} tokens`,
        sum.deferrable === 0 ? "" : out.color.dim(active ? "behind Tool Search" : "can be hidden"),
      ]);
    for (const line of table([...rows, ["total", `${total.tools} tools`, `${total.tokens} tokens`]]))
      out.line(line);
    if (active)
      out.line(`sent to a model: ${sent.length} tools, ${sentTokens} tokens (${search.saved_pct} % less)`);
    else if (hidden.tools > 0)
      out.line(out.color.dim(`Tool Search would hide ${hidden.tools} of them, ${hidden.tokens} tokens`));
  }
  await runtime.close();
}

function measure(definition: ToolDefinition, runtime: Runtime) {
  const { name } = definition.function;
  const entry = runtime.registry.get(runtime.canonicalName(name));
  return {
    name,
    toolset: entry?.toolset ?? "",
    tools: 1,
    chars: JSON.stringify(definition).length,
    tokens: estimateTokens(definition),
    deferrable: entry !== undefined && isDeferrable(entry),
  };
}

function add(sum: Sum, more: Sum): Sum {
  return {
    tools: sum.tools + more.tools,
    chars: sum.chars + more.chars,
    tokens: sum.tokens + more.tokens,
  };
}
