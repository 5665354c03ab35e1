import type { LoadedConfig } from "../../config/types.js";
import { type OpenRequest, openEnvironment, requireEnvironmentName } from "../../env/environments.js";
import { type SelfTestStep, selfTest } from "../../env/self-test.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CommandContext } from "../context.js";
import { EXIT } from "../errors.js";
import { withPluginEnvironments } from "./list.js";

/** Opens an environment and uses it the way tools do: commands, files, a time limit. */
export async function test(context: CommandContext): Promise<void> {
  const [asked] = context.args;
  await withPluginEnvironments(context, async (config, plugins) => {
    const name = requireEnvironmentName(asked ?? config.values.terminal.env, plugins);
    await runSteps(context, { name, config, plugins });
  });
}

async function runSteps(
  { out }: CommandContext,
  tested: Pick<OpenRequest, "name" | "plugins"> & { readonly config: LoadedConfig },
): Promise<void> {
  const { name, config, plugins } = tested;
  const steps: SelfTestStep[] = [];
  const note = (step: SelfTestStep) => {
    steps.push(step);
    const detail = step.detail === undefined ? "" : out.color.dim(`  ${step.detail}`);
    out.line(`${out.mark(step.ok ? "ok" : "error")} ${step.what} ${out.color.dim(`${step.ms} ms`)}${detail}`);
  };
  const began = performance.now();
  try {
    const environment = await openEnvironment({
      name,
      task: "self-test",
      config,
      plugins,
      onProgress: (message) => out.note(message),
    });
    note({ what: "open", ok: true, ms: Math.round(performance.now() - began) });
    try {
      for await (const step of selfTest(environment, process.cwd())) note(step);
    } finally {
      const closing = performance.now();
      await environment.close();
      note({ what: "close", ok: true, ms: Math.round(performance.now() - closing) });
    }
  } catch (error) {
    const { message } = describeThrown(error);
    note({ what: "open", ok: false, ms: Math.round(performance.now() - began), detail: message });
  }
  const ok = steps.every((step) => step.ok);
  if (out.json) out.value({ name, ok, steps });
  if (!ok) process.exitCode = EXIT.unexpected;
}
