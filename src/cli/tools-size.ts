import type { CommandContext } from "./globals.js";
import { table } from "./output.js";

/** The usual estimate: four characters of compact JSON to a token. */
const CHARS_PER_TOKEN = 4;

export async function run({ out, runtime: open }: CommandContext): Promise<void> {
  const runtime = await open();
  const tools = (await runtime.getToolDefinitions({ quiet: true })).map((definition) => {
    const chars = JSON.stringify(definition).length;
    const canonical = runtime.canonicalName(definition.function.name);
    return {
      name: definition.function.name,
      toolset: runtime.registry.get(canonical)?.toolset ?? "",
      chars,
      tokens: Math.ceil(chars / CHARS_PER_TOKEN),
    };
  });
  const toolsets = new Map<string, { tools: number; chars: number; tokens: number }>();
  for (const tool of tools) {
    const sum = toolsets.get(tool.toolset) ?? { tools: 0, chars: 0, tokens: 0 };
    toolsets.set(tool.toolset, {
      tools: sum.tools + 1,
      chars: sum.chars + tool.chars,
      tokens: sum.tokens + tool.tokens,
    });
  }
  const total = tools.reduce(
    (sum, tool) => ({ chars: sum.chars + tool.chars, tokens: sum.tokens + tool.tokens }),
    { chars: 0, tokens: 0 },
  );
  if (out.json)
    out.value({ total: { tools: tools.length, ...total }, toolsets: Object.fromEntries(toolsets), tools });
  else {
    const rows = [...toolsets]
      .sort((a, b) => b[1].tokens - a[1].tokens)
      .map(([name, sum]) => [name, `${sum.tools} tools`, `${sum.tokens} tokens`]);
    for (const line of table([...rows, ["total", `${tools.length} tools`, `${total.tokens} tokens`]]))
      out.line(line);
  }
  await runtime.close();
}
