import { billsBy } from "../agent/sessions/model-costs.js";
import { STATUSES } from "../call/stats/stats.js";
import { DURATION_BOUNDS, type ToolMetrics } from "../call/stats/tool-metrics.js";
import {
  histogramSamples,
  METRICS_TYPE,
  type MetricFamily,
  metricsText,
  type Sample,
} from "../observe/prometheus.js";
import type { Runtime } from "../runtime/runtime.js";
import type { McpSource } from "../sources/mcp/source.js";
import { VERSION } from "../version.js";
import type { Route } from "./route.js";

/** More than anybody has; what is beyond counts together as `other`, so that no label can grow without end. */
const MOST_TOOLS = 500;
const MOST_MODELS = 100;
const ANSWERS = ["once", "session", "always", "deny", "reviewer", "timeout", "nobody"];

export const metricsRoute: Route = {
  method: "GET",
  path: "/metrics",
  summary: "Counts of calls, answers, servers, processes and tokens, for Prometheus.",
  answer: {
    description:
      "The text format 0.0.4. Names of tools, models and servers are labels; ids of sessions never are.",
    type: "text/plain",
    schema: { type: "string" },
  },

  async handle(_context, { runtime }) {
    return new Response(metricsText(await families(runtime)), {
      headers: { "content-type": METRICS_TYPE, "cache-control": "no-store" },
    });
  },
};

async function families(runtime: Runtime): Promise<readonly MetricFamily[]> {
  const counted = await (await runtime.journal()).metrics();
  const tools = boundedTools(counted.tools);
  const mcp = runtime.sources.get("mcp") as McpSource | undefined;
  const running = runtime.processes.list().filter(({ status }) => status === "running").length;
  return [
    {
      name: "hermes_build_info",
      type: "gauge",
      help: "The version that answers.",
      samples: [{ labels: { version: VERSION }, value: 1 }],
    },
    {
      name: "hermes_tool_calls_total",
      type: "counter",
      help: "Calls of every process of this home, by how they ended.",
      samples: tools.flatMap(({ tool, toolset, by_status }) =>
        STATUSES.filter((status) => by_status[status] > 0).map((status) => ({
          labels: { tool, toolset, status },
          value: by_status[status],
        })),
      ),
    },
    {
      name: "hermes_tool_duration_seconds",
      type: "histogram",
      help: "How long calls took that ran.",
      samples: tools.flatMap(({ tool, buckets, ran, seconds }) =>
        histogramSamples({ tool }, { bounds: DURATION_BOUNDS, counts: buckets, all: ran, sum: seconds }),
      ),
    },
    {
      name: "hermes_approvals_total",
      type: "counter",
      help: "Questions by how they were answered.",
      samples: ANSWERS.map((decision) => ({ labels: { decision }, value: counted.answers[decision] ?? 0 })),
    },
    {
      name: "hermes_mcp_up",
      type: "gauge",
      help: "1 while an MCP server is connected.",
      samples: (mcp?.servers() ?? []).map(({ name, state }) => ({
        labels: { server: name },
        value: state === "ready" || state === "degraded" ? 1 : 0,
      })),
    },
    {
      name: "hermes_processes",
      type: "gauge",
      help: "Programs that run in the background.",
      samples: [{ value: running }],
    },
    ...modelFamilies(runtime),
  ];
}

/** A name under two toolsets would be two histograms of one name. */
function boundedTools(tools: ToolMetrics["tools"]): ToolMetrics["tools"] {
  const byName = new Map<string, ToolMetrics["tools"][number]>();
  const sorted = [...tools].sort((one, other) => other.ran - one.ran || (one.tool < other.tool ? -1 : 1));
  for (const [index, row] of sorted.entries()) {
    const other = index >= MOST_TOOLS;
    const tool = row.toolset === "" ? "unknown" : other ? "other" : row.tool;
    const toolset = row.toolset === "" ? "unknown" : other ? "other" : row.toolset;
    const known = byName.get(tool);
    byName.set(tool, known === undefined ? { ...row, tool, toolset } : sum(known, row));
  }
  return [...byName.values()];
}

function sum(
  one: ToolMetrics["tools"][number],
  other: ToolMetrics["tools"][number],
): ToolMetrics["tools"][number] {
  const by_status = { ...one.by_status };
  for (const status of STATUSES) by_status[status] += other.by_status[status];
  return {
    ...one,
    by_status,
    buckets: one.buckets.map((count, index) => count + (other.buckets[index] ?? 0)),
    ran: one.ran + other.ran,
    seconds: one.seconds + other.seconds,
  };
}

function modelFamilies(runtime: Runtime): readonly MetricFamily[] {
  const file = runtime.config.paths.sessionsDb;
  const bills = billsBy("model", { file, since: 0, until: Number.MAX_SAFE_INTEGER });
  const tokens = new Map<string, Sample>();
  const cost = new Map<string, Sample>();
  const add = (samples: Map<string, Sample>, labels: Record<string, string>, value: number) => {
    const key = JSON.stringify(labels);
    samples.set(key, { labels, value: (samples.get(key)?.value ?? 0) + value });
  };
  for (const [index, bill] of bills.entries()) {
    const model = index < MOST_MODELS ? bill.key : "other";
    for (const kind of ["input", "cached", "cache_write", "output"] as const)
      add(tokens, { model, kind }, bill[kind]);
    add(cost, { model }, bill.cost_usd);
  }
  return [
    {
      name: "hermes_model_tokens_total",
      type: "counter",
      help: "Tokens on the bills of conversations; none is in two kinds.",
      samples: [...tokens.values()],
    },
    {
      name: "hermes_model_cost_usd_total",
      type: "counter",
      help: "Dollars on the bills of conversations.",
      samples: [...cost.values()],
    },
  ];
}
