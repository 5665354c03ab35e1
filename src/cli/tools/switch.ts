import { appendConfigValue, removeConfigValue } from "../../config/edit.js";
import { HermesError } from "../../tool/errors.js";
import { aboutTools, type CommandContext, withRuntime } from "../context.js";

/** `tools enable|disable`: the name goes into or out of `tools.disabled` of the person's own configuration. */
export async function switchTool(options: {
  readonly context: CommandContext;
  readonly name: string;
  readonly on: boolean;
}): Promise<void> {
  const { context, on } = options;
  const { out, home } = context;
  const about = aboutTools(context, [options.name]);
  const name = await withRuntime(about, async (runtime) => runtime.canonicalName(options.name));
  const change = on ? removeConfigValue : appendConfigValue;
  const done = await change({ home, key: "tools.disabled", items: [name] });
  if (!done.ok) throw new HermesError(done);
  if (out.json) out.value({ name, enabled: on, changed: done.changed, file: done.file });
  else out.line(`${name} is ${on ? "on" : "off"}${done.changed ? "" : " (as before)"}; ${done.file}`);
}

export async function enable(context: CommandContext): Promise<void> {
  const [name = ""] = context.args;
  await switchTool({ context, name, on: true });
}

export async function disable(context: CommandContext): Promise<void> {
  const [name = ""] = context.args;
  await switchTool({ context, name, on: false });
}
