import { formatProblem, type LoadedConfig } from "../../config/types.js";
import { HermesError } from "../../tool/errors.js";
import { commandError, EXIT } from "../errors.js";

export function assertCluster(config: LoadedConfig): void {
  assertUnderstood(config);
  if (config.values.cluster.url !== "") return;
  throw commandError(
    "bad_request",
    "no cluster is named",
    "Give its NATS servers: --cluster nats://host:4222, or set cluster.url.",
  );
}

/** What stands in its place by default could be another cluster, or one without the TLS that was asked for. */
export function assertUnderstood({ problems }: LoadedConfig): void {
  const wrong = problems.find(({ severity, key }) => severity === "error" && key?.startsWith("cluster."));
  if (wrong !== undefined) throw commandError("bad_request", formatProblem(wrong), "Nothing was started.");
}

export async function joining<Joined>(join: () => Promise<Joined>): Promise<Joined> {
  try {
    return await join();
  } catch (thrown) {
    return throwUnreachable(thrown);
  }
}

/** Servers may come yet, when machines begin together: units try again after 7, and after 4 they do not. */
export function throwUnreachable(thrown: unknown): never {
  if (thrown instanceof HermesError && thrown.code === "unavailable") process.exitCode = EXIT.unreachable;
  throw thrown;
}
