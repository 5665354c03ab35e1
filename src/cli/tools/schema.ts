import { encodeDefinitions, type WireFormat } from "../../protocol/index.js";
import type { Runtime } from "../../runtime/runtime.js";
import { aboutTools, type CommandContext, withRuntime } from "../context.js";

export async function schema(context: CommandContext): Promise<void> {
  const { args: names } = context;
  const about = names.length === 0 ? context : aboutTools(context, names);
  await withRuntime(about, (runtime) => show(runtime, context));
}

async function show(runtime: Runtime, { out, args: names, options }: CommandContext): Promise<void> {
  const wanted = new Set(names.map((name) => runtime.canonicalName(name)));
  // Who asks for single tools wants to see them, hidden or not.
  const definitions = await runtime.getToolDefinitions({ toolSearch: wanted.size === 0 });
  const shown = definitions
    .map(({ function: schema }) => ({
      canonical: wanted.size === 0 ? schema.name : runtime.canonicalName(schema.name),
      schema,
    }))
    .filter(({ canonical }) => wanted.size === 0 || wanted.has(canonical));
  for (const name of wanted) {
    if (!shown.some(({ canonical }) => canonical === name))
      out.note(`${name} is not offered; "hermes tools explain ${name}" says why`);
  }
  const encoded = encodeDefinitions(
    shown.map(({ schema }) => schema),
    options.format as Exclude<WireFormat, "envelope">,
  );
  if (out.json) out.value(encoded);
  else process.stdout.write(`${JSON.stringify(encoded, null, 2)}\n`);
}
