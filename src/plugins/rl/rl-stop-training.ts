import { replaceFile } from "../../base/atomic-write.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { filesOf, findRun, RUN_ID } from "./runs.js";
import { shownState } from "./shown.js";
import { endTrainer, type RunState, stateOf } from "./trainer.js";

interface StopAnswer {
  readonly run_id: string;
  readonly stopped: boolean;
  readonly status: RunState;
  /** It did not end by itself when it was told to. */
  readonly forced?: boolean | undefined;
  readonly note?: string | undefined;
}

export default defineTool({
  name: "rl_stop_training",
  toolset: "rl",
  emoji: "🏋️",
  description: "Stop a training with everything it has started; what it has written stays.",
  parameters: {
    type: "object",
    properties: { run_id: { type: "string", pattern: RUN_ID, description: "or latest" } },
    required: ["run_id"],
    additionalProperties: false,
  },
  permissions: ["rl:train"],
  everyCallNeeds: ["rl:train"],
  effects: ({ run_id }) => [{ action: "rl:train", resource: run_id, mode: "write", reversible: false }],
  timeoutMs: 30_000,

  async handler({ run_id: wanted }, ctx): Promise<StopAnswer> {
    const run = await findRun(wanted, ctx);
    const { run_id } = run;
    const before = await stateOf(run);
    if (before.state !== "running") {
      return { run_id, stopped: false, status: before.state, note: `It is not running: ${before.state}.` };
    }
    // Written first: a run that was ended half-way through this call was still ended on purpose.
    const { stopped } = filesOf(run.folder);
    await replaceFile({ path: stopped, data: `${JSON.stringify({ at: Date.now() })}\n`, mode: 0o600 });
    const { forced, survivors } = await endTrainer(run.tree, { signal: ctx.signal });
    if (survivors.length > 0) {
      throw new ToolError(`Processes of ${run_id} could not be ended: ${survivors.join(", ")}.`, {
        hint: "They belong to another user or hang in the kernel; end them by hand.",
      });
    }
    return { run_id, stopped: true, status: "stopped", ...(forced && { forced }) };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human:
      `${mark.strong(out.run_id)} ${shownState(out.status)}${out.forced === true ? " by force" : ""} ${mark.dim(out.note ?? "")}`.trim(),
  }),

  examples: [
    {
      title: "End it",
      files: { "environments/sums.yaml": "config: { steps: 2 }\n" },
      settings: { "rl.environments_folder": "{folder}/environments", "rl.command": "sleep 60 #" },
      before: [
        { name: "rl_select_environment", arguments: { name: "sums" } },
        { name: "rl_start_training", arguments: {} },
      ],
      arguments: { run_id: "latest" },
      result: { stopped: true, status: "stopped" },
    },
  ],
});
