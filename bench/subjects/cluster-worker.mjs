// A worker of the cluster, in a process of its own.
import { openRuntime } from "./cluster-tools.mjs";

export async function open(options) {
  const { library, runtime, close } = await openRuntime(options);
  await library.startWorker(runtime);
  return { operations: {}, close };
}
