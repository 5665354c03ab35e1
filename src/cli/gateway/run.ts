import type { StartedGateways } from "../../gateway/start.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { HermesServer } from "../../server/server.js";
import { describeThrown } from "../../tool/thrown.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertOwnHome } from "../home-access.js";
import { listenForStop } from "../stop-signals.js";

/** Runs until it is told to stop, which is its ordinary end. */
export async function run({ args, out, home, runtime: open }: CommandContext): Promise<void> {
  assertOwnHome(home);
  const signals = listenForStop();
  const runtime = await open({ wait: false, calls: true });
  // What a library throws outside of every call must not take the other gateways along.
  const survive = (thrown: unknown) => runtime.log.error(`nobody caught: ${describeThrown(thrown).message}`);
  process.on("unhandledRejection", survive);
  process.on("uncaughtException", survive);
  try {
    const { startGateways } = await import("../../gateway/start.js");
    const started = await startGateways(runtime, { only: args.length === 0 ? undefined : args });
    if (started === undefined) throw nothingConfigured(args);
    try {
      if (started.names.length === 0)
        throw commandError("unavailable", `Another process runs ${started.busy.join(", ")} already`);
      const server = await listenForHooks(runtime, started);
      const { names, busy, standby } = started;
      if (out.json || out.jsonl)
        out.value({
          gateways: names,
          busy,
          ...(standby.length > 0 && { standby }),
          url: server?.url ?? null,
        });
      else {
        const running = names.filter((name) => !standby.includes(name));
        if (running.length > 0) out.line(`Running: ${running.join(", ")}. Ctrl-C stops it.`);
        if (standby.length > 0)
          out.line(`Standing by for another machine of the cluster: ${standby.join(", ")}.`);
        if (server !== undefined) out.line(`Webhooks: ${server.url}hooks/NAME`);
        if (busy.length > 0) out.note(`Run by another process: ${busy.join(", ")}`);
      }
      await signals.stop;
      await server?.close();
    } finally {
      await started.stop();
    }
  } finally {
    process.off("unhandledRejection", survive);
    process.off("uncaughtException", survive);
    await runtime.close();
    signals.release();
  }
  setTimeout(() => process.exit(), 1_000).unref();
}

/** Webhooks come over HTTP: without a server that runs for this home, there is one here. */
async function listenForHooks(runtime: Runtime, started: StartedGateways): Promise<HermesServer | undefined> {
  if (!started.names.some((name) => name.startsWith("webhook:"))) return undefined;
  const [{ createServer }, { resolveToken }] = await Promise.all([
    import("../../server/server.js"),
    import("../../server/token.js"),
  ]);
  const { values, paths } = runtime.config;
  const { host, port, allowed_hosts: allowedHosts } = values.server;
  const token = await resolveToken({ configured: values.server.token, file: paths.serverToken });
  return createServer({ runtime, token, host, port, allowedHosts, hooks: started.hooks });
}

function nothingConfigured(names: readonly string[]) {
  const what = names.length === 0 ? "No gateway is configured" : `${names.join(", ")} is not configured`;
  return commandError(
    "unavailable",
    what,
    "For Telegram: hermes config set gateways.telegram.token TOKEN; docs/gateways.md tells the others.",
  );
}
