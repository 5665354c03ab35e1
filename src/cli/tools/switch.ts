import { switchTool as writeSwitch } from "../../runtime/switch-tool.js";
import { HermesError } from "../../tool/errors.js";
import { aboutTools, type CommandContext, withRuntime } from "../context.js";

export async function switchTool(options: {
  readonly context: CommandContext;
  readonly name: string;
  readonly on: boolean;
}): Promise<void> {
  const { context, on } = options;
  const { out, home } = context;
  const about = aboutTools(context, [options.name]);
  const name = await withRuntime(about, async (runtime) => runtime.canonicalName(options.name));
  const done = await writeSwitch({ home, name, on });
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
