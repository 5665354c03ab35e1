import type { AgentEvent, AgentResult } from "../agent/events.js";
import type { Approver } from "../call/scope.js";
import type { Runtime } from "../runtime/runtime.js";
import { type CommandContext, exitSoon } from "./context.js";
import { commandError, EXIT } from "./errors.js";
import { terminalApprover } from "./session/approval-prompt.js";
import { reportUncaughtErrors, unattendedApprover } from "./session/with-session.js";

/** Reads only: what a plan needs. */
const PLAN_PROFILE = "readonly_research";

/** One question to the agent, answered on stdout. */
export async function chat(context: CommandContext): Promise<void> {
  const { options, out } = context;
  const message = typeof options.query === "string" ? options.query : undefined;
  const resume = typeof options.resume === "string" ? options.resume : undefined;
  if (message === undefined && resume === undefined)
    throw commandError(
      "bad_request",
      "Say what you want with -q TEXT",
      'For example: hermes chat -q "what is in this folder?"',
    );
  const runtime = await context.runtime();
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error("interrupted"));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  reportUncaughtErrors(runtime);
  try {
    const approver =
      runtime.approvals.configured() ??
      terminalApprover({ out, interrupt, alone: (ask) => ask() }) ??
      unattendedApprover(runtime, out);
    await converse(context, { runtime, approver, message, resume, signal: stop.signal });
  } finally {
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
    await runtime.close();
    exitSoon();
  }
}

interface Wish {
  readonly runtime: Runtime;
  readonly approver: Approver;
  readonly message: string | undefined;
  readonly resume: string | undefined;
  readonly signal: AbortSignal;
}

async function converse(context: CommandContext, wish: Wish): Promise<void> {
  const { out, options, flags } = context;
  const { runtime, message } = wish;
  const [{ configuredModel }, { Agents }] = await Promise.all([
    import("../agent/configured-model.js"),
    import("../agent/agents.js"),
  ]);
  const notice = (text: string) =>
    out.jsonl ? out.value({ type: "notice", message: text }) : out.note(text);
  const model = await configuredModel(runtime.config, {
    model: typeof options.model === "string" ? options.model : undefined,
    onNotice: notice,
  });
  if ("fixes" in model) {
    process.exitCode = EXIT.authentication;
    throw commandError("unavailable", model.reason, model.fixes.join("\n"));
  }
  const agents = new Agents(runtime);
  try {
    const store = await agents.conversations();
    const conversation = wish.resume === "last" ? (await store.list({ limit: 1 }))[0]?.id : wish.resume;
    if (wish.resume === "last" && conversation === undefined)
      throw commandError(
        "not_found",
        "There is no conversation to go on with",
        'Begin one: hermes chat -q "…"',
      );
    const agent = await agents.open({
      model,
      conversation,
      source: "cli",
      door: "cli",
      approver: wish.approver,
      profile: options.plan === true ? PLAN_PROFILE : flags.profile,
      maxTurns: typeof options.maxTurns === "string" ? turnsIn(options.maxTurns) : undefined,
    });
    try {
      const events =
        message === undefined
          ? agent.resume({ signal: wish.signal })
          : agent.send(message, { signal: wish.signal });
      for await (const event of events) show(context, event);
    } finally {
      await agent.close();
    }
  } finally {
    await agents.close();
  }
}

function turnsIn(text: string): number {
  const turns = Number(text);
  if (!Number.isInteger(turns) || turns < 1)
    throw commandError("bad_request", `--max-turns ${text} is not a whole number above 0`);
  return turns;
}

function show({ out }: CommandContext, event: AgentEvent): void {
  if (event.type === "result") {
    process.exitCode = exitCodeFor(event);
    const { type: _, ...result } = event;
    if (out.json) out.value(out.jsonl ? event : result);
    // Not before: an answer that breaks off is begun anew, and what comes before calls is no answer.
    else if (event.text !== "") process.stdout.write(event.text.replace(/\n?$/, "\n"));
    return;
  }
  if (event.type === "error" && CODES[event.code] !== undefined) failure.code = CODES[event.code];
  // That a call is being written is for eyes; programs get the whole call.
  if (event.type === "tool_begun") return;
  if (out.jsonl) out.value(event);
  else if (out.json) return;
  else if (event.type === "notice") out.note(event.message);
  else if (event.type === "error") out.note(event.message);
  else if (event.type === "tool_use") out.note(`… ${event.name}`);
  else if (event.type === "tool_result") out.note(`${out.mark(event.ok ? "ok" : "error")} ${event.name}`);
}

/** What the last error of a model means for scripts. */
const failure: { code: number | undefined } = { code: undefined };
const CODES: Readonly<Record<string, number>> = {
  model_refused: EXIT.authentication,
  model_quota: EXIT.authentication,
  model_unreachable: EXIT.unreachable,
  model_busy: EXIT.unreachable,
};

function exitCodeFor({ stop }: AgentResult): number {
  switch (stop) {
    case "end":
      return EXIT.ok;
    case "interrupted":
      return EXIT.interrupted;
    case "max_turns":
    case "budget":
      return EXIT.toolError;
    case "error":
      return failure.code ?? EXIT.unexpected;
  }
}
