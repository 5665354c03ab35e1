import type { Runtime } from "../runtime/runtime.js";

/** A machine's part in a cluster. */
export interface ClusterMember {
  readonly id: string;
}

export interface ClusterWorker extends ClusterMember {
  /** Takes nothing new, lets running calls finish, and leaves. */
  drain(): Promise<void>;
}

/**
 * From now on calls of the runtime's sessions run on the workers of the cluster that `cluster.url` names; until the
 * runtime is closed.
 */
export async function joinCluster(runtime: Runtime): Promise<ClusterMember> {
  const { ClusterPlace } = await import("./place.js");
  return ClusterPlace.join(runtime);
}

/** Runs calls of other machines' sessions with the tools of this runtime. */
export async function startWorker(runtime: Runtime): Promise<ClusterWorker> {
  const { Worker } = await import("./worker.js");
  return Worker.start(runtime);
}
