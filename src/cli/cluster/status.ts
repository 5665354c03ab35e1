import { type ClusterStatus, clusterStatus, drainWorker } from "../../cluster/status.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertCluster, joining, throwUnreachable } from "./assert-cluster.js";

/** Whether the cluster can be reached, its workers, and what waits. */
export async function status(context: CommandContext): Promise<void> {
  const { out } = context;
  const found = await look(context);
  const { workers: rows, queue, problem } = found;
  if (out.json) {
    const told = rows.map(({ id, labels, toolsets, state, running, clockOffMs }) => ({
      id,
      labels,
      toolsets,
      state,
      running,
      ...(clockOffMs !== undefined && { clock_off_ms: Math.round(clockOffMs) }),
    }));
    const { connected, strangers } = found;
    out.value({ connected, workers: told, queue, ...(strangers > 0 && { strangers }) });
  } else if (problem === undefined) {
    const ready = rows.filter(({ state }) => state === "ready").length;
    const mark = out.mark(ready > 0 ? "ok" : "warning");
    out.line(`${mark} ${ready} of ${rows.length} workers ready, ${queue} calls wait`);
    showWorkers(context, found);
  }
  if (problem !== undefined) throwUnreachable(problem);
}

/** The same workers with all that is known of them. */
export async function workers(context: CommandContext): Promise<void> {
  const found = await look(context);
  const { problem } = found;
  if (problem !== undefined) throwUnreachable(problem);
  showWorkers(context, found);
}

export async function drain(context: CommandContext): Promise<void> {
  const { out, args } = context;
  const [id = ""] = args;
  const config = await context.config();
  assertCluster(config);
  const { values } = config;
  if (!(await joining(() => drainWorker(values.cluster, id))))
    throw commandError("not_found", `no worker ${id} is there`, "Who is: hermes cluster status");
  if (out.json) out.value({ worker: id, state: "draining" });
  else out.line(`${out.mark("ok")} ${id} takes nothing new and leaves when its calls are over`);
}

async function look(context: CommandContext): Promise<ClusterStatus> {
  const config = await context.config();
  assertCluster(config);
  const { values } = config;
  return clusterStatus(values.cluster);
}

function showWorkers({ out }: CommandContext, { workers: rows, strangers }: ClusterStatus): void {
  if (strangers > 0)
    out.note(`${strangers} more of another secret: is HERMES_CLUSTER_KEY the same on all machines?`);
  for (const { id, clockOffMs } of rows) {
    if (clockOffMs === undefined) continue;
    const off = `${Math.round(Math.abs(clockOffMs) / 1_000)} s ${clockOffMs > 0 ? "ahead of" : "behind"}`;
    out.note(`The clock of ${id} is ${off} this one: they must agree within a minute.`);
  }
  out.list({
    rows,
    head: ["worker", "state", "running", "slots", "labels", "toolsets", "version"],
    cells: ({ id, state, running, slots, labels, toolsets, version }) => [
      id,
      state,
      String(running),
      String(slots),
      labels.join(", "),
      toolsets.join(", "),
      version,
    ],
    empty: "No worker has joined. Start one: hermes worker --cluster …",
  });
}
