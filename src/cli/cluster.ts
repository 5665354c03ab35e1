import type { CommandSpec } from "./command.js";

const CLUSTER = { "--cluster <url>": "NATS servers of the cluster (cluster.url), e.g. nats://host:4222" };

/** For commands whose calls may run in a cluster. */
export const IN_CLUSTER = {
  ...CLUSTER,
  "--labels <names>": "what workers must be called to run its calls, comma separated",
};

export const worker: CommandSpec = {
  about: "run calls of other machines' sessions on this one, until it is told to stop",
  helpEnd: `HERMES_CLUSTER_KEY is the secret that all machines of the cluster share. SIGTERM lets running calls finish.

Examples:
  hermes worker --cluster nats://10.0.0.5:4222
  hermes worker --cluster nats://10.0.0.5:4222 --labels gpu,region=eu --toolsets terminal,file`,
  options: { ...CLUSTER, "--labels <names>": "what this machine is called: gpu,region=eu" },
  load: async () => (await import("./cluster/worker.js")).worker,
};

export const cluster: CommandSpec = {
  about: "the workers that calls run on",
  otherwise: "status",
  commands: {
    status: {
      about: "whether the cluster can be reached, its workers, and what waits",
      options: CLUSTER,
      load: async () => (await import("./cluster/status.js")).status,
    },
    workers: {
      about: "the workers with what they can do",
      options: CLUSTER,
      load: async () => (await import("./cluster/status.js")).workers,
    },
    drain: {
      about: "let a worker finish what it runs and leave",
      args: { "<id>": "as the status shows it" },
      options: CLUSTER,
      load: async () => (await import("./cluster/status.js")).drain,
    },
  },
};
