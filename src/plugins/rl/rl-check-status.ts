import { replaceFile } from "../../base/atomic-write.js";
import { ageText } from "../../base/human.js";
import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { mark } from "../../tool/marked-text.js";
import { logTail, readMetrics } from "./metrics.js";
import { filesOf, findRun, RUN_ID, readJson } from "./runs.js";
import { lines, shownHistory, shownLog, shownState } from "./shown.js";
import { type RunState, stateOf } from "./trainer.js";

/** A training takes hours: looking more often costs a model much and tells it nothing. */
const APART_MS = 30 * 60_000;
const HISTORY = 20;
const LOG_CHARS = 1_500;

interface StatusAnswer {
  readonly run_id: string;
  readonly status: RunState;
  readonly environment: string;
  readonly running_for?: string | undefined;
  readonly exit_code?: number | undefined;
  readonly steps?: number | undefined;
  readonly metrics?: Readonly<Record<string, unknown>> | undefined;
  readonly history?: readonly unknown[] | undefined;
  readonly log_tail?: string | undefined;
  /** Asked too soon: nothing was looked at, `status` is what it was the last time. */
  readonly rate_limited?: true | undefined;
  readonly next_check_at?: string | undefined;
  readonly message?: string | undefined;
}

export default defineTool({
  name: "rl_check_status",
  toolset: "rl",
  emoji: "🏋️",
  description: "How a training is doing: metrics and the end of its log. At most once in 30 minutes per run.",
  parameters: {
    type: "object",
    properties: { run_id: { type: "string", pattern: RUN_ID, description: "or latest" } },
    required: ["run_id"],
    additionalProperties: false,
  },
  permissions: ["rl:read"],
  effects: ({ run_id }) => [{ action: "rl:read", resource: run_id, mode: "read" }],
  timeoutMs: 30_000,

  async handler({ run_id: wanted }, ctx): Promise<StatusAnswer> {
    const run = await findRun(wanted, ctx);
    const { run_id } = run;
    const files = filesOf(run.folder);
    const end = await stateOf(run);
    const common = { run_id, environment: run.environment };
    const looked = await readJson(files.looked);
    const last = isRecord(looked) ? Number(looked.at) : Number.NaN;
    const next = last + APART_MS;
    // How it ended is told whenever somebody asks.
    if (end.state === "running" && Number.isFinite(last) && Date.now() < next) {
      return {
        ...common,
        status: "running",
        rate_limited: true,
        next_check_at: new Date(next).toISOString(),
        message: `Looked at ${ageText(Date.now() - last)} ago: the next look is in ${Math.ceil((next - Date.now()) / 60_000)} minutes. Do something else until then, or sleep; rl_stop_training ends the run.`,
      };
    }
    const metrics = await readMetrics(files.metrics, HISTORY);
    const log_tail = await logTail(files.log, LOG_CHARS);
    await replaceFile({ path: files.looked, data: `${JSON.stringify({ at: Date.now() })}\n`, mode: 0o600 });
    const until = end.ended_at === undefined ? Date.now() : Date.parse(end.ended_at);
    return {
      ...common,
      status: end.state,
      running_for: ageText(until - Date.parse(run.started_at)),
      exit_code: end.exit_code,
      steps: metrics.lines,
      metrics: metrics.latest,
      history: metrics.history,
      log_tail,
      ...(end.state === "lost" && { message: "Its process is gone and left no word about how it ended." }),
      ...(end.state === "running" && { next_check_at: new Date(Date.now() + APART_MS).toISOString() }),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: lines(
      `${mark.strong(out.run_id)} ${out.environment} ${shownState(out.status)} ${mark.dim(
        [out.running_for, out.steps === undefined ? undefined : `${out.steps} steps`]
          .filter((part) => part !== undefined)
          .join(", "),
      )}`,
      shownHistory(out.history ?? []),
      shownLog(out.log_tail),
      out.message,
    ),
  }),

  examples: [
    {
      title: "How is it going?",
      files: { "environments/sums.yaml": "config: { steps: 2 }\n" },
      settings: { "rl.environments_folder": "{folder}/environments", "rl.command": "true" },
      before: [
        { name: "rl_select_environment", arguments: { name: "sums" } },
        { name: "rl_start_training", arguments: {} },
      ],
      arguments: { run_id: "latest" },
      result: { environment: "sums", steps: 0 },
    },
  ],
});
