import { clusterStatus } from "../../cluster/status.js";
import type { LoadedConfig } from "../../config/types.js";
import { cannotOpen, type Finding } from "../../runtime/doctor.js";

const group = "Cluster";

/** What `hermes doctor` says of the cluster that is configured, if one is. */
export async function examineCluster({ values: { cluster } }: LoadedConfig): Promise<readonly Finding[]> {
  if (cluster.url === "") return [];
  const place = cluster.url.replaceAll(/\/\/[^/@,]*@/g, "//");
  try {
    const { problem, workers, strangers } = await clusterStatus(cluster);
    if (problem !== undefined) throw problem;
    const ready = workers.filter(({ state }) => state === "ready").length;
    return [
      {
        group,
        level: ready > 0 ? "ok" : "warning",
        what: `${place}: ${ready} of ${workers.length} workers ready`,
        ...(ready === 0 && { fix: "hermes worker --cluster … on a machine that is to run the calls" }),
      },
      ...(strangers === 0
        ? []
        : [
            {
              group,
              level: "warning",
              what: `workers of another secret: ${strangers}`,
              fix: "set HERMES_CLUSTER_KEY to the same value on all machines",
            } as const,
          ]),
    ];
  } catch (error) {
    return [cannotOpen(group, error)];
  }
}
