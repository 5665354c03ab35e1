import { Writable } from "node:stream";
import { serveMcpOverStreams } from "../../server/mcp/stdio.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** What a tool leaves behind may keep the process alive this long after the client has gone. */
const LEFTOVER_MS = 200;

/** Standard output belongs to the protocol: whatever else a tool or library prints goes to standard error. */
export async function serve({ flags, runtime: open }: CommandContext): Promise<void> {
  if (flags.dryRun === true) {
    throw commandError("bad_request", "--dry-run has no meaning here: a client decides what to call");
  }
  const protocol = takeStandardOutput();
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const runtime = await open({ wait: false });
  const report = (thrown: unknown) => {
    const { type, message } = describeThrown(thrown);
    runtime.log.error(`an error that nothing caught, left behind by a tool: ${type}: ${message}`);
  };
  process.on("unhandledRejection", report);
  process.on("uncaughtException", report);
  try {
    const { watchForChanges } = await import("../../runtime/reload/watch-for-changes.js");
    await watchForChanges(runtime);
    await serveMcpOverStreams({ runtime, input: process.stdin, output: protocol, signal: stop.signal });
  } finally {
    await runtime.close();
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    setTimeout(() => process.exit(), LEFTOVER_MS).unref();
  }
}

function takeStandardOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      write(chunk, (error) => done(error));
    },
  });
}
