import type { AgentEvent, AgentResult } from "../../agent/events.js";
import type { Approver } from "../../call/scope.js";
import { hermesPaths } from "../../config/paths.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type CommandContext, exitSoon } from "../context.js";
import { EXIT } from "../errors.js";
import { terminalApprover } from "../session/approval-prompt.js";
import { reportUncaughtErrors, unattendedApprover } from "../session/with-session.js";
import { chosenConversation, chosenModel, mostTurns, PLAN_PROFILE } from "./open.js";

/** One question to the agent, answered on stdout; without one, a turn that was cut off is finished. */
export async function askOnce(context: CommandContext, message: string | undefined): Promise<void> {
  const { out } = context;
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
    await converse(context, { runtime, approver, message, signal: stop.signal });
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
  readonly signal: AbortSignal;
}

async function converse(context: CommandContext, wish: Wish): Promise<void> {
  const { out, home, options, flags } = context;
  const { runtime, message } = wish;
  const [{ openConversations }, { openAgent }] = await Promise.all([
    import("../../agent/sessions/conversation-store.js"),
    import("../../agent/agent.js"),
  ]);
  const notice = (text: string) =>
    out.jsonl ? out.value({ type: "notice", message: text }) : out.note(text);
  const model = await chosenModel(context, { runtime, notice });
  const store = await openConversations(hermesPaths(home));
  try {
    const { budget_usd } = runtime.config.values.model;
    const agent = await openAgent({
      runtime,
      store,
      model,
      conversation: await chosenConversation(context, store),
      source: "cli",
      door: "cli",
      approver: wish.approver,
      profile: options.plan === true ? PLAN_PROFILE : flags.profile,
      maxTurns: mostTurns(context),
      budget: () => (budget_usd > 0 ? { sessionUsd: budget_usd } : {}),
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
    await store.close();
  }
}

function show({ out }: CommandContext, event: AgentEvent): void {
  if (event.type === "result") {
    process.exitCode = exitCodeFor(event);
    const { type: _, ...result } = event;
    if (out.json) out.value(out.jsonl ? event : result);
    else if (!event.text.endsWith("\n")) process.stdout.write("\n");
    return;
  }
  if (event.type === "error" && CODES[event.code] !== undefined) failure.code = CODES[event.code];
  if (out.jsonl) out.value(event);
  else if (out.json) return;
  else if (event.type === "text") process.stdout.write(event.delta);
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
