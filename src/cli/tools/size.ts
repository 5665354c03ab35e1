import type { ToolDefinition } from "../../registry/entry.js";
import type { Runtime } from "../../runtime/runtime.js";
import { estimateTokens } from "../../search/assemble.js";
import { isDeferrable } from "../../search/deferrable.js";
import type { CommandContext } from "../context.js";
import type { Output } from "../output.js";

interface Sum {
  readonly tools: number;
  readonly chars: number;
  readonly tokens: number;
}

interface ToolsetSum extends Sum {
  /** Tokens of the tools that can be hidden. */
  readonly deferrable: number;
  /** Tokens that are left when they are. */
  readonly with_search: number;
}

type Measured = ReturnType<typeof measure>;

const NOTHING: Sum = { tools: 0, chars: 0, tokens: 0 };

/** The toolset of the stand-ins themselves. */
const STAND_INS = "tool_search";

/** The bill of the tools array, per toolset: as it is, and as it would be with and without Tool Search. */
export async function size({ out, runtime: open }: CommandContext): Promise<void> {
  const runtime = await open();
  try {
    const ask = (toolSearch?: false | "on") => runtime.getToolDefinitions({ quiet: true, toolSearch });
    const all = (await ask(false)).map((definition) => measure(definition, runtime));
    const [sent, hiding] = [await ask(), await ask("on")];
    const total = all.reduce(add, NOTHING);
    const hidden = all.filter((tool) => tool.deferrable);
    const names = new Set(hidden.map(({ name }) => name));
    const active = hidden.length > 0 && !sent.some(({ function: { name } }) => names.has(name));
    const sentTokens = tokensOf(sent);
    const search = {
      active,
      sent_tokens: sentTokens,
      without_tokens: total.tokens,
      with_tokens: tokensOf(hiding),
      hidden_tools: active ? hidden.length : 0,
      saved_pct: savedPct(sentTokens, total.tokens),
    };
    const toolsets = byToolset(all, search);
    if (out.json)
      out.value({ total, tool_search: search, toolsets: Object.fromEntries(toolsets), tools: all });
    else show(out, { total, search, toolsets, sent: sent.length, hidden: hidden.length });
  } finally {
    await runtime.close();
  }
}

function byToolset(
  all: readonly Measured[],
  { with_tokens }: { readonly with_tokens: number },
): ReadonlyMap<string, ToolsetSum> {
  const toolsets = new Map<string, ToolsetSum>();
  for (const tool of all) {
    const sum = toolsets.get(tool.toolset) ?? { ...NOTHING, deferrable: 0, with_search: 0 };
    toolsets.set(tool.toolset, {
      ...add(sum, tool),
      deferrable: sum.deferrable + (tool.deferrable ? tool.tokens : 0),
      with_search: sum.with_search + (tool.deferrable ? 0 : tool.tokens),
    });
  }
  const left = [...toolsets.values()].reduce((sum, { with_search }) => sum + with_search, 0);
  if (with_tokens > left)
    toolsets.set(STAND_INS, { ...NOTHING, deferrable: 0, with_search: with_tokens - left });
  return toolsets;
}

function show(
  out: Output,
  bill: {
    readonly total: Sum;
    readonly search: { readonly active: boolean; readonly sent_tokens: number; readonly with_tokens: number };
    readonly toolsets: ReadonlyMap<string, ToolsetSum>;
    readonly sent: number;
    readonly hidden: number;
  },
): void {
  const { total, search, toolsets, sent, hidden } = bill;
  const row = (name: string, sum: Sum, withSearch: number) => [
    name,
    `${sum.tools} tools`,
    `${sum.tokens} tokens`,
    ...(hidden === 0 ? [] : [out.color.dim(`${withSearch} with Tool Search`)]),
  ];
  const rows = [...toolsets]
    .sort((a, b) => b[1].tokens - a[1].tokens)
    .map(([name, sum]) => row(name, sum, sum.with_search));
  out.table([...rows, row("total", total, search.with_tokens)]);
  if (hidden === 0) return;
  const less = `${savedPct(search.with_tokens, total.tokens)} % less`;
  out.line(
    search.active
      ? `sent to a model: ${sent} tools, ${search.sent_tokens} tokens (${less}); Tool Search hides ${hidden}`
      : `sent to a model: all of them. Tool Search, not active now, would hide ${hidden} (${less})`,
  );
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

function tokensOf(definitions: readonly ToolDefinition[]): number {
  return definitions.reduce((sum, definition) => sum + estimateTokens(definition), 0);
}

function savedPct(sent: number, all: number): number {
  return all === 0 ? 0 : Math.round((1 - sent / all) * 1000) / 10;
}

function add(sum: Sum, more: Sum): Sum {
  return {
    tools: sum.tools + more.tools,
    chars: sum.chars + more.chars,
    tokens: sum.tokens + more.tokens,
  };
}
