import { setTimeout as delay } from "node:timers/promises";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { currentConfig } from "./choice.js";
import { logTail } from "./metrics.js";
import { prepareRun, saveRun } from "./runs.js";
import { lines, shownFields } from "./shown.js";
import { endTrainer, startTrainer, stateOf } from "./trainer.js";

const AT_ONCE_MS = 300;
const LOG_CHARS = 1_000;

export default defineTool({
  name: "rl_start_training",
  toolset: "rl",
  emoji: "🏋️",
  description:
    "Start a training with the current configuration. It goes on for hours by itself; look with rl_check_status.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["rl:train"],
  everyCallNeeds: ["rl:train"],
  effects: () => [{ action: "rl:train", resource: "runs", mode: "write", reversible: false }],
  needs: { anySetting: ["rl.command"], fix: "hermes config set rl.command 'python train.py'" },
  timeoutMs: 30_000,

  async handler(_args, ctx) {
    const { environment, config } = await currentConfig(ctx);
    const all = { ...config, ...environment.locked };
    const prepared = await prepareRun(ctx, { environment: environment.name, mode: "train", config: all });
    const { runId, folder, files } = prepared;
    const trainer = await startTrainer(ctx, prepared);
    const started_at = new Date().toISOString();
    const run = { run_id: runId, environment: environment.name, started_at, tree: trainer.tree, folder };
    try {
      await saveRun(run);
    } catch (error) {
      // A run that is not written down could never be stopped.
      await endTrainer(trainer.tree);
      throw error;
    }
    // A command that is misspelt has ended before anybody looks.
    await Promise.race([trainer.ended, delay(AT_ONCE_MS, undefined, { ref: false })]);
    const { state, exit_code } = await stateOf(run);
    if (state === "failed") {
      throw new ToolError(`The trainer ended at once, with exit code ${exit_code}.`, {
        hint: `Its log: ${(await logTail(files.log, LOG_CHARS)) || "empty"}`,
        details: { run_id: runId },
      });
    }
    return {
      run_id: runId,
      environment: environment.name,
      started_at,
      config: all,
      log: files.log,
      note: "Look with rl_check_status, at most every 30 minutes; rl_stop_training ends it.",
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: lines(
      `${mark.good("started")} ${mark.strong(out.run_id)} ${out.environment}`,
      shownFields(out.config),
      mark.dim(`log: ${out.log}`),
    ),
  }),

  examples: [
    {
      title: "Train with what is selected",
      files: { "environments/sums.yaml": "config: { steps: 2 }\n" },
      settings: { "rl.environments_folder": "{folder}/environments", "rl.command": "true" },
      before: [{ name: "rl_select_environment", arguments: { name: "sums" } }],
      arguments: {},
      result: { environment: "sums", config: { steps: 2 } },
    },
  ],
});
