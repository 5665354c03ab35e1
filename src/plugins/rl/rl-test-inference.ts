import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { currentConfig } from "./choice.js";
import { logTail, readMetrics } from "./metrics.js";
import { prepareRun } from "./runs.js";
import { lines, shownHistory, shownLog } from "./shown.js";
import { endTrainer, startTrainer } from "./trainer.js";

const LONGEST_MS = 30 * 60_000;
const LOOK_MS = 1_000;
const HISTORY = 50;
const LOG_CHARS = 3_000;

export default defineTool({
  name: "rl_test_inference",
  toolset: "rl",
  emoji: "🏋️",
  description: "Try the selected environment with a few steps and no training, before rl_start_training.",
  parameters: {
    type: "object",
    properties: {
      num_steps: { type: "integer", minimum: 1, maximum: 50, default: 3 },
      group_size: { type: "integer", minimum: 1, maximum: 64, default: 16 },
      models: {
        type: "array",
        items: { type: "string" },
        maxItems: 5,
        description: "The usual ones when left out",
      },
    },
    additionalProperties: false,
  },
  permissions: ["rl:train"],
  everyCallNeeds: ["rl:train"],
  effects: () => [{ action: "rl:train", resource: "tests", mode: "write" }],
  needs: { anySetting: ["rl.command"], fix: "hermes config set rl.command 'python train.py'" },
  timeoutMs: LONGEST_MS + 15_000,

  async handler({ num_steps, group_size, models }, ctx) {
    const { environment, config } = await currentConfig(ctx);
    const prepared = await prepareRun(ctx, {
      environment: environment.name,
      mode: "test",
      config: { ...config, ...environment.locked },
      extra: { num_steps, group_size, ...(models !== undefined && { models }) },
    });
    const { files } = prepared;
    const trainer = await startTrainer(ctx, prepared);
    const until = performance.now() + LONGEST_MS;
    let ended = false;
    void trainer.ended.then(() => {
      ended = true;
    });
    try {
      while (!ended && !ctx.signal.aborted && performance.now() < until) {
        await Promise.race([
          trainer.ended,
          delay(LOOK_MS, undefined, { signal: ctx.signal }).catch(() => undefined),
        ]);
        const { lines } = await readMetrics(files.metrics, 1);
        ctx.progress({ message: `${lines} of ${num_steps} steps`, fraction: Math.min(1, lines / num_steps) });
      }
    } finally {
      // Also what the command has left behind in the background.
      await endTrainer(trainer.tree, { signal: ctx.signal });
    }
    const exit_code = Number.parseInt(await readFile(files.exitCode, "utf8").catch(() => ""), 10);
    const log_tail = await logTail(files.log, LOG_CHARS);
    if (!ended || exit_code !== 0) {
      throw new ToolError(
        ended
          ? `The trainer ended with exit code ${exit_code}.`
          : "The trainer did not end in time and was stopped.",
        { code: ended ? "failed" : "timeout", hint: `Its log: ${log_tail.slice(-1_000) || "empty"}` },
      );
    }
    const metrics = await readMetrics(files.metrics, HISTORY);
    return {
      environment: environment.name,
      steps: metrics.lines,
      metrics: metrics.latest ?? {},
      history: metrics.history,
      log_tail,
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: lines(
      `${mark.good(out.environment)} ${mark.dim(`${out.steps} steps`)}`,
      shownHistory(out.history),
      shownLog(out.log_tail),
    ),
  }),

  examples: [
    {
      title: "Two steps, to see whether it works at all",
      files: { "environments/sums.yaml": "config: { steps: 2 }\n" },
      settings: {
        "rl.environments_folder": "{folder}/environments",
        "rl.command": `echo '{"step":1,"reward":0.5}' > metrics.jsonl; true`,
      },
      before: [{ name: "rl_select_environment", arguments: { name: "sums" } }],
      arguments: { num_steps: 2 },
      result: { environment: "sums", steps: 1, metrics: { reward: 0.5 } },
    },
  ],
});
