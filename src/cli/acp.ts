import { type CommandContext, exitSoon } from "./context.js";
import { commandError, EXIT } from "./errors.js";
import { takeStandardOutput } from "./protocol-output.js";
import { reportUncaughtErrors } from "./session/with-session.js";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The agent for editors, on standard input and output. */
export async function acp(context: CommandContext): Promise<void> {
  if (context.options.check === true) return check(context);
  const protocol = takeStandardOutput();
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const runtime = await context.runtime({ wait: false, calls: true });
  reportUncaughtErrors(runtime);
  try {
    const { serveAcpOverStreams } = await import("../server/acp/serve.js");
    await serveAcpOverStreams({ runtime, input: process.stdin, output: protocol, signal: stop.signal });
  } finally {
    await runtime.close();
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    exitSoon(200);
  }
}

/** Whether an editor would get an answer, without asking the model anything. */
async function check({ runtime: open, out }: CommandContext): Promise<void> {
  const runtime = await open({ wait: false });
  try {
    const { configuredModel } = await import("../agent/configured-model.js");
    const model = await configuredModel(runtime.config, { onNotice: (text) => out.note(text) });
    if ("fixes" in model) {
      process.exitCode = EXIT.authentication;
      throw commandError("unavailable", model.reason, model.fixes.join("\n"));
    }
    if (out.json) out.value({ ok: true, model: model.name });
    else out.line(`hermes acp is ready: ${model.name}`);
  } finally {
    await runtime.close();
  }
}
