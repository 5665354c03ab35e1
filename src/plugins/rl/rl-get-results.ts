import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import { logTail, readMetrics } from "./metrics.js";
import { filesOf, findRun, RUN_ID, readJson } from "./runs.js";
import { lines, shownHistory, shownLog, shownState } from "./shown.js";
import { type RunState, stateOf } from "./trainer.js";

const HISTORY = 50;
const MOST_FILES = 100;
const LOG_CHARS = 3_000;

interface Results {
  readonly run_id: string;
  readonly environment: string;
  readonly status: RunState;
  readonly exit_code?: number | undefined;
  readonly started_at: string;
  readonly ended_at?: string | undefined;
  readonly steps: number;
  readonly final_metrics?: Readonly<Record<string, unknown>> | undefined;
  readonly history: readonly unknown[];
  readonly config: unknown;
  readonly output_folder: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly log_tail: string;
}

export default defineTool({
  name: "rl_get_results",
  toolset: "rl",
  emoji: "🏋️",
  description: "What a training that has ended came to: metrics, configuration, files such as weights.",
  parameters: {
    type: "object",
    properties: { run_id: { type: "string", pattern: RUN_ID, description: "or latest" } },
    required: ["run_id"],
    additionalProperties: false,
  },
  permissions: ["rl:read"],
  effects: ({ run_id }) => [{ action: "rl:read", resource: run_id, mode: "read" }],
  timeoutMs: 30_000,

  async handler({ run_id: wanted }, ctx): Promise<Results> {
    const run = await findRun(wanted, ctx);
    const { run_id } = run;
    const end = await stateOf(run);
    if (end.state === "running") {
      throw new ToolError(`${run_id} is still running.`, {
        code: "bad_request",
        hint: "Look with rl_check_status, or end it with rl_stop_training.",
      });
    }
    const files = filesOf(run.folder);
    const metrics = await readMetrics(files.metrics, HISTORY);
    const written = await readJson(files.config);
    return {
      run_id,
      environment: run.environment,
      status: end.state,
      exit_code: end.exit_code,
      started_at: run.started_at,
      ended_at: end.ended_at,
      steps: metrics.lines,
      final_metrics: metrics.latest,
      history: metrics.history,
      config: (written as { readonly config?: unknown } | undefined)?.config ?? null,
      output_folder: files.output,
      files: await filesBelow(files.output),
      log_tail: await logTail(files.log, LOG_CHARS),
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: lines(
      `${mark.strong(out.run_id)} ${out.environment} ${shownState(out.status)} ${mark.dim(`${out.steps} steps`)}`,
      shownHistory(out.history),
      out.files.length === 0
        ? ""
        : columns(out.files.map(({ path, bytes }) => [mark.path(path), sizeText(bytes, "decimal")])),
      mark.dim(out.output_folder),
      shownLog(out.log_tail),
    ),
  }),

  examples: [
    {
      title: "What came out of it?",
      files: { "environments/sums.yaml": "config: { steps: 2 }\n" },
      settings: { "rl.environments_folder": "{folder}/environments", "rl.command": "true" },
      before: [
        { name: "rl_select_environment", arguments: { name: "sums" } },
        { name: "rl_start_training", arguments: {} },
        { name: "rl_stop_training", arguments: { run_id: "latest" } },
      ],
      arguments: { run_id: "latest" },
      result: { environment: "sums", config: { steps: 2 }, files: [] },
    },
  ],
});

async function filesBelow(folder: string): Promise<Results["files"]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .slice(0, MOST_FILES);
  return Promise.all(
    files.map(async (path) => ({
      path: relative(folder, path),
      bytes: (await stat(path).catch(() => undefined))?.size ?? 0,
    })),
  );
}
