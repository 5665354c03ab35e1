import type { LoadedConfig } from "../../config/types.js";
import { commandError } from "../errors.js";

export function assertCluster({ cluster }: LoadedConfig["values"]): void {
  if (cluster.url !== "") return;
  throw commandError(
    "bad_request",
    "no cluster is named",
    "Give its NATS servers: --cluster nats://host:4222, or set cluster.url.",
  );
}
