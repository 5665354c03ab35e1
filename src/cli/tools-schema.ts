import { encodeDefinitions, type WireFormat } from "../protocol/index.js";
import type { CommandContext } from "./globals.js";

export async function run(
  { out, runtime: open }: CommandContext,
  names: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const runtime = await open();
  const wanted = names.map((name) => runtime.canonicalName(name));
  const definitions = await runtime.getToolDefinitions(wanted.length > 0 ? { enabled: wanted } : {});
  const encoded = encodeDefinitions(
    definitions.map((definition) => definition.function),
    options.format as Exclude<WireFormat, "envelope">,
  );
  if (out.json) out.value(encoded);
  else process.stdout.write(`${JSON.stringify(encoded, null, 2)}\n`);
  await runtime.close();
}
