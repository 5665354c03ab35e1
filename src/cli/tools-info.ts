import { quoteForShell } from "../base/quote.js";
import { describeSignature } from "../tool/signature.js";
import type { CommandContext } from "./globals.js";

export async function run(
  { out, runtime: open }: CommandContext,
  [name = ""]: readonly string[],
): Promise<void> {
  const runtime = await open();
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
      ...(entry.output !== undefined && { output: entry.output }),
      ...(examples.length > 0 && { examples }),
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
  await runtime.close();
}
