import { loadConfig } from "../config/load.js";
import { openEnvironment } from "../env/open.js";
import { type SelfTestStep, selfTest } from "../env/self-test.js";
import { describeThrown } from "../tool/thrown.js";
import { environmentNamed } from "./environment-name.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";

/** Opens an environment and uses it the way tools do: commands, files, a time limit. */
export async function run(
  { out, home, configFlags }: CommandContext,
  [asked]: readonly string[],
): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const name = environmentNamed(asked ?? config.values.terminal.env);
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
