import { Worker } from "../../cluster/worker.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CommandContext } from "../context.js";
import { assertOwnHome } from "../home-access.js";
import { listenForStop } from "../stop-signals.js";
import { assertCluster, joining } from "./assert-cluster.js";

/** Runs until it is told to stop; being told to is its ordinary end. */
export async function worker(context: CommandContext): Promise<void> {
  const { out, home } = context;
  assertOwnHome(home);
  assertCluster(await context.config());
  const signals = listenForStop();
  const runtime = await context.runtime({ wait: false });
  // One tool's forgotten promise must not end everybody's worker.
  process.on("unhandledRejection", (reason) => {
    runtime.log.error(`a promise was rejected and nobody looked: ${describeThrown(reason).message}`);
  });
  try {
    const started = await joining(() => Worker.start(runtime));
    const { id, record } = started;
    const { labels = [], toolsets = [], tools = {} } = record ?? {};
    if (out.json) out.value({ worker: id, labels, toolsets });
    else {
      out.line(`${out.mark("ok")} worker ${out.color.bold(id)} runs ${Object.keys(tools).length} tools`);
      if (labels.length > 0) out.line(`  Labels    ${labels.join(", ")}`);
      out.line(`  Toolsets  ${toolsets.join(", ")}`);
      out.line(out.color.dim("Ctrl-C lets its calls finish and stops it; twice, at once."));
    }
    await Promise.race([signals.stop, started.stopped]);
    out.note("Draining: running calls get some time to finish.");
    await started.drain();
  } finally {
    await runtime.close();
    signals.release();
  }
  // A tool that ignored its abort must not keep the process alive.
  setTimeout(() => process.exit(), 1_000).unref();
}
