import { serveMcpOverStreams } from "../../server/mcp/stdio.js";
import { type CommandContext, exitSoon } from "../context.js";
import { takeStandardOutput } from "../protocol-output.js";
import { reportUncaughtErrors } from "../session/with-session.js";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Standard output belongs to the protocol: whatever else a tool or library prints goes to standard error. */
export async function serve({ runtime: open }: CommandContext): Promise<void> {
  const protocol = takeStandardOutput();
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const runtime = await open({ wait: false, calls: true });
  reportUncaughtErrors(runtime);
  try {
    const { watchForChanges } = await import("../../runtime/reload/watch-for-changes.js");
    await watchForChanges(runtime, { hold: "everything" });
    await serveMcpOverStreams({ runtime, input: process.stdin, output: protocol, signal: stop.signal });
  } finally {
    await runtime.close();
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    exitSoon(200);
  }
}
