import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { columns, mark } from "../../tool/marked-text.js";
import { allRuns } from "./runs.js";
import { shownState } from "./shown.js";
import { type RunState, stateOf } from "./trainer.js";

const MOST = 100;

interface RunList {
  readonly count: number;
  readonly runs: readonly {
    readonly run_id: string;
    readonly environment: string;
    readonly status: RunState;
    readonly started_at: string;
    readonly ended_at?: string | undefined;
  }[];
}

export default defineTool({
  name: "rl_list_runs",
  toolset: "rl",
  emoji: "🏋️",
  description: "List trainings, newest first, and how each is or ended.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  permissions: ["rl:read"],
  effects: () => [{ action: "rl:read", resource: "runs", mode: "read" }],
  timeoutMs: 30_000,

  async handler(_args, ctx): Promise<RunList> {
    const runs = await allRuns(ctx);
    const shown = await Promise.all(
      runs.slice(0, MOST).map(async (run) => {
        const { state, ended_at } = await stateOf(run);
        const { run_id, environment, started_at } = run;
        return {
          run_id,
          environment,
          status: state,
          started_at,
          ...(ended_at !== undefined && { ended_at }),
        };
      }),
    );
    return { count: runs.length, runs: shown };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human:
      out.count === 0
        ? "no trainings yet"
        : columns(
            out.runs.map(({ run_id, environment, status, started_at }) => [
              mark.strong(run_id),
              environment,
              shownState(status),
              mark.dim(started_at),
            ]),
          ),
  }),

  examples: [{ title: "Before the first training", arguments: {}, result: { count: 0, runs: [] } }],
});
