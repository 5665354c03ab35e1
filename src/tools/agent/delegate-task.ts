import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { DelegatedResult } from "../../tool/host-capabilities.js";
import { mark } from "../../tool/marked-text.js";

const MOST_TASKS = 10;
/** Calls of a child that its parent is told of, the last ones. */
const TRACED = 30;

interface DelegateAnswer {
  readonly results: readonly {
    readonly task_index: number;
    readonly status: DelegatedResult["status"];
    readonly summary: string;
    readonly api_calls: number;
    readonly duration_seconds: number;
    readonly exit_reason: string | undefined;
    readonly tokens: DelegatedResult["tokens"];
    readonly tool_trace: readonly { readonly tool: string; readonly ok: boolean }[];
    /** Who outside wrote what it has read. */
    readonly heard?: readonly string[];
  }[];
  readonly total_duration_seconds: number;
}

export default defineTool({
  name: "delegate_task",
  toolset: "delegation",
  emoji: "🤝",
  description:
    "Give work to agents of your own that start with an empty context and your tools, or fewer; each answers with a " +
    "summary. For work that would fill your context, or several tasks at once. They cannot ask anybody: say all they need.",
  parameters: {
    type: "object",
    properties: {
      goal: { type: "string", minLength: 1, description: "One task; or several in tasks" },
      context: { type: "string", description: "What they must know: files, findings, constraints" },
      tasks: {
        type: "array",
        minItems: 1,
        maxItems: MOST_TASKS,
        items: {
          type: "object",
          properties: {
            goal: { type: "string", minLength: 1 },
            context: { type: "string" },
            toolsets: { type: "array", items: { type: "string" } },
          },
          required: ["goal"],
          additionalProperties: false,
        },
      },
      toolsets: { type: "array", items: { type: "string" }, description: "Only these; yours when left out" },
      max_iterations: { type: "integer", minimum: 1, maximum: 250, default: 50 },
    },
    additionalProperties: false,
  },
  permissions: [],
  effects: () => [],
  host: "delegate",
  // A child that was taken in by a page would speak with the voice of the parent's own work.
  untrustedSource: (_args, { results }: DelegateAnswer) =>
    [...new Set(results.flatMap(({ heard = [] }) => heard))].join(", ") || undefined,
  // Children have budgets of their own and tell how far they are.
  timeoutMs: 24 * 3_600_000,

  examples: [
    {
      title: "Hand on two tasks at once",
      arguments: {
        context: "The project lies in this folder.",
        tasks: [{ goal: "List what the README promises." }, { goal: "Find tests that are skipped." }],
      },
      result: {
        results: [
          { task_index: 0, status: "completed" },
          { task_index: 1, status: "completed" },
        ],
      },
    },
  ],

  async handler({ goal, context, tasks, toolsets, max_iterations }, ctx): Promise<DelegateAnswer> {
    const host = ctx.host.delegate;
    if (host === undefined)
      throw new ToolError("delegate_task needs an agent loop that runs the children.", {
        code: "unavailable",
      });
    const wanted = tasks ?? (goal === undefined ? [] : [{ goal, context, toolsets }]);
    if (wanted.length === 0)
      throw new ToolError("Say what is to be done in goal, or in tasks.", { code: "invalid_arguments" });
    const startedAt = performance.now();
    const results = await host.run(
      wanted.map((task) => ({
        goal: task.goal,
        context:
          [context, tasks === undefined ? undefined : task.context].filter((part) => part).join("\n\n") ||
          undefined,
        toolsets: task.toolsets ?? toolsets,
        maxTurns: max_iterations,
      })),
      {
        insideCall: ctx.callId,
        signal: ctx.signal,
        onProgress: ({ message }, task) => ctx.progress({ message: `${task + 1}: ${message ?? ""}` }),
      },
    );
    return {
      results: results.map(
        ({ status, summary, turns, durationMs, tokens, heard = [], ...how }, task_index) => ({
          task_index,
          status,
          summary,
          api_calls: turns,
          duration_seconds: durationMs / 1000,
          exit_reason: how.exitReason,
          tokens,
          tool_trace: (how.calls ?? []).slice(-TRACED).map(({ name, ok }) => ({ tool: name, ok })),
          ...(heard.length > 0 && { heard }),
        }),
      ),
      total_duration_seconds: Math.round(performance.now() - startedAt) / 1000,
    };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: out.results
      .map(({ task_index, status, summary, duration_seconds }) => {
        const state = status === "completed" ? mark.good(status) : mark.bad(status);
        return `${task_index + 1} ${state} ${mark.dim(`${duration_seconds.toFixed(1)} s`)}\n${summary}`;
      })
      .join("\n"),
  }),
});
