import { existsSync } from "node:fs";
import { messageOf } from "../base/errno.js";
import { ownCommand } from "../base/own-command.js";
import { visible } from "../base/visible-text.js";
import type { StartedGateways } from "../gateway/start.js";
import { noteServer, runningServer } from "../runtime/running-server.js";
import type { Runtime } from "../runtime/runtime.js";
import type { RuntimeScheduler } from "../runtime/scheduler.js";
import type { HookDoor } from "../server/hooks-route.js";
import { createServer, type HermesServer } from "../server/server.js";
import { resolveToken, type ServerToken } from "../server/token.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { VERSION } from "../version.js";
import type { CommandContext } from "./context.js";
import { commandError, EXIT } from "./errors.js";
import { assertOwnHome } from "./home-access.js";
import { brief, type Output } from "./output.js";
import { assertPerson, howToBeAsked } from "./person.js";
import { listenForStop } from "./stop-signals.js";

/** Runs until it is told to stop; being told to is its ordinary end, so the exit code is then 0. */
export async function serve({ out, runtime: open, options, home }: CommandContext): Promise<void> {
  assertOwnHome(home);
  const signals = listenForStop();
  const runtime = await open({ wait: false, calls: true });
  // One tool's forgotten promise must not end everybody's server.
  process.on("unhandledRejection", (reason) => {
    runtime.log.error(`a promise was rejected and nobody looked: ${describeThrown(reason).message}`);
  });
  try {
    const gateways = await startWebhooks(runtime);
    const { server, token } = await start(runtime, { ...options, hooks: gateways?.hooks });
    const scheduler = await startScheduler(runtime);
    await startReloading(runtime, { out, tools: options.dev !== true });
    const forget = await noteServer(home, server.url);
    await announce({ out, runtime, server, token });
    await signals.stop;
    out.note("Stopping: running calls get a few seconds to finish. Ctrl-C again ends at once.");
    await Promise.all([server.close(), scheduler?.stop(), forget()]);
    await gateways?.stop();
  } catch (thrown) {
    const other = isPortTaken(thrown) ? await runningServer(home) : undefined;
    if (other === undefined) out.failWith(thrown);
    else
      out.fail(
        failure("unavailable", `A server of this home runs already: ${other.url}`, "Its page: hermes open"),
      );
    // What may pass by itself: units try again.
    if (isAddressTrouble(thrown)) process.exitCode = EXIT.unexpected;
  } finally {
    await runtime.close();
    signals.release();
  }
  // A tool that ignored its abort must not keep the process alive.
  setTimeout(() => process.exit(), 1_000).unref();
}

/** `hermes tools dev`: code of tools is loaded as it is saved; settings still wait for a yes. */
export async function serveForAuthor(context: CommandContext): Promise<void> {
  assertPerson("Tools are developed by a person");
  await serve({ ...context, options: { ...context.options, dev: true } });
}

function isPortTaken(thrown: unknown): boolean {
  return thrown instanceof HermesError && /is already in use/.test(thrown.message);
}

/** An old server may still be ending, or the network not be up. */
function isAddressTrouble(thrown: unknown): boolean {
  return isPortTaken(thrown) || (thrown instanceof HermesError && /is no address of/.test(thrown.message));
}

async function start(
  runtime: Runtime,
  options: Readonly<Record<string, unknown>> & { readonly hooks?: HookDoor | undefined },
): Promise<{ readonly server: HermesServer; readonly token: ServerToken }> {
  const { values, paths } = runtime.config;
  // A journal that cannot be opened is better known now than at the first call.
  const journal = await runtime.journal();
  const [damage] = (await runtime.store()).check();
  if (damage !== undefined) {
    runtime.log.error(
      `${paths.stateDb} is damaged: ${damage}. Stop and start again: what can be read is then recovered.`,
    );
  }
  await journal.prune(values.journal.retention_days);
  await pruneConversations(runtime);
  const host = typeof options.host === "string" ? options.host : values.server.host;
  const port = options.port === undefined ? values.server.port : portFrom(options.port);
  const token = await resolveToken({ configured: values.server.token, file: paths.serverToken });
  const allowedHosts = values.server.allowed_hosts;
  const { hooks } = options;
  return { server: await createServer({ runtime, token, host, port, allowedHosts, hooks }), token };
}

/** Messages of programs are taken wherever the server runs; other gateways have a command of their own. */
async function startWebhooks(runtime: Runtime): Promise<StartedGateways | undefined> {
  if (Object.keys(runtime.config.values.webhooks).length === 0) return undefined;
  const { startGateways } = await import("../gateway/start.js");
  return startGateways(runtime, { only: ["webhook"] });
}

/** Conversations that are kept no longer leave; trouble with them keeps no tool from running. */
async function pruneConversations({ config, log }: Runtime): Promise<void> {
  const { paths, values } = config;
  if (!existsSync(paths.sessionsDb)) return;
  try {
    const { applyRetention } = await import("../agent/sessions/retention.js");
    const { retention_days: days, max_mb: megabytes } = values.sessions;
    const tell = (notice: string) => log.warn(notice);
    await applyRetention(paths, { days, maxBytes: megabytes * 1_048_576, tell });
  } catch (error) {
    log.error(messageOf(error));
  }
}

/** Runs scheduled jobs as long as the server runs, unless that is switched off. */
async function startScheduler(runtime: Runtime): Promise<RuntimeScheduler | undefined> {
  if (!runtime.config.values.cron.enabled) return undefined;
  const [{ schedulerFor }, { promptRunner }] = await Promise.all([
    import("../runtime/scheduler.js"),
    import("../agent/job-prompts.js"),
  ]);
  const made = await schedulerFor(runtime, { runPrompt: promptRunner(runtime) });
  made.scheduler.start();
  return made;
}

/**
 * Takes up changed tools and settings as long as the runtime lives. What is stricter counts at once, the rest when the
 * person says so; what fails is logged.
 */
async function startReloading(
  runtime: Runtime,
  { out, tools }: { readonly out: Output; readonly tools: boolean },
): Promise<void> {
  const { watchForChanges } = await import("../runtime/reload/watch-for-changes.js");
  await watchForChanges(runtime, { hold: tools ? "everything" : "settings" });
  const { askAboutChanges } = await import("./changes/ask.js");
  askAboutChanges(runtime, out);
  showQuestions(runtime, out);
  const { level } = runtime.config.values.log;
  if (level === "info" || level === "debug") return;
  runtime.events.onType("reload.applied", ({ changes }) => {
    for (const change of changes) out.note(`Reloaded ${change}`);
  });
}

/** Whoever started the server sits here: a question that waits, or that nobody could be asked, is told where they look. */
function showQuestions({ events }: Runtime, out: Output): void {
  events.onType("approval.pending", (event) => {
    const question = `${visible(event.tool)} asks for approval (${visible(event.reason)}): ${brief(visible(event.what), 300)}`;
    out.note(`${question}\n  yes: ${ownCommand()} approvals approve ${event.id}, or on the page`);
  });
  let saidHow = false;
  events.onType("approval.unasked", (event) => {
    out.note(
      `${visible(event.tool)} was denied, because nobody could be asked: ${brief(visible(event.preview), 300)}`,
    );
    if (!saidHow) out.note(`  ${howToBeAsked("keep its page open")}`);
    saidHow = true;
  });
}

function portFrom(given: unknown): number {
  const port = typeof given === "string" && /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw commandError("bad_request", `--port must be a number from 0 to 65535, not ${JSON.stringify(given)}`);
}

async function announce(started: {
  readonly out: Output;
  readonly runtime: Runtime;
  readonly server: HermesServer;
  readonly token: ServerToken;
}): Promise<void> {
  const { out, runtime, server, token } = started;
  const { boundaryProblem } = await import("../runtime/doctor.js");
  const on = (await runtime.listTools()).filter((tool) => tool.enabled);
  const ready = on.filter((tool) => tool.available).length;
  if (out.json || out.jsonl) {
    out.value({
      url: server.url,
      port: server.port,
      token_file: token.file ?? null,
      tools_ready: ready,
      tools_need_setup: on.length - ready,
    });
    return;
  }
  const { color } = out;
  const setup = on.length - ready;
  const { source, name } = runtime.config.origin("server.token");
  out.line(`${color.bold("Hermes Tools")} ${VERSION} is running.`);
  out.line();
  // A secret that the operator chose opens more than this page, and what is no terminal is a log.
  const isShown = process.stdout.isTTY || token.file !== undefined;
  const page = isShown ? `${server.url}?token=${encodeURIComponent(token.value)}` : server.url;
  out.line(`  Open   ${color.cyan(page)}`);
  out.line(`  Token  ${token.file ?? `from ${name ?? `the ${source} configuration`}`}`);
  out.line(
    `  Tools  ${color.green(`${ready} ready`)}${setup > 0 ? `, ${color.yellow(`${setup} need set-up`)} (${ownCommand()} doctor)` : ""}`,
  );
  out.line(`  Try    ${ownCommand()} call system_info`);
  const unguarded = await boundaryProblem(runtime.config);
  if (unguarded !== undefined) {
    out.line(
      `  ${color.yellow("⚠ Nothing keeps commands from your credentials and start-up files here:")} ${unguarded.unavailable}`,
    );
    out.line(`    Fix: ${unguarded.fix}`);
  }
  out.line();
  out.line(color.dim("Ctrl-C stops it."));
}
