import type { AgentEvent, AgentResult } from "../../agent/events.js";
import type { Approver } from "../../call/scope.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { HermesError } from "../../tool/errors.js";
import { plainText } from "../../tool/marked-text.js";
import { type CommandContext, exitSoon } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import type { Output } from "../output.js";
import { terminalApprover } from "../session/approval-prompt.js";
import { reportUncaughtErrors, unattendedApprover } from "../session/with-session.js";
import { chosenConversation, chosenModel, mostTurns, PLAN_PROFILE } from "./open.js";

/** One question to the agent, answered on stdout; without one, a turn that was cut off is finished. */
export async function askOnce(context: CommandContext, message: string | undefined): Promise<void> {
  const { out } = context;
  const runtime = await context.runtime({ calls: true });
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
  const { out, options, flags } = context;
  const { runtime, message } = wish;
  const { Agents } = await import("../../agent/agents.js");
  const notice = (text: string) =>
    out.jsonl ? out.value({ type: "notice", message: text }) : out.note(text);
  const model = await chosenModel(context, { runtime, notice });
  const agents = new Agents(runtime);
  try {
    const agent = await agents.open({
      model,
      conversation: await chosenConversation(context, await agents.stored()),
      source: "cli",
      door: "cli",
      approver: wish.approver,
      profile: options.plan === true ? PLAN_PROFILE : flags.profile,
      maxTurns: mostTurns(context),
    });
    try {
      const events =
        message === undefined
          ? agent.resume({ signal: wish.signal })
          : agent.send(message, { signal: wish.signal });
      await follow(context, events);
    } finally {
      await agent.close();
    }
  } finally {
    await agents.close();
  }
}

type AgentError = Extract<AgentEvent, { type: "error" }>;

/** Prints what happens the way the caller asked for; the exit code says how it ended. */
async function follow({ out }: CommandContext, events: AsyncIterable<AgentEvent>): Promise<void> {
  const isWatched = process.stdout.isTTY === true;
  let error: AgentError | undefined;
  let result: AgentResult | undefined;
  for await (const event of events) {
    if (event.type === "result") result = event;
    else if (event.type === "error") error = event;
    // Calls that are still being written are for those who watch.
    if (out.jsonl && event.type !== "tool_begun") out.value(unmarked(event));
    if (!out.json && (isWatched || event.type !== "text")) remark(out, event);
  }
  if (result === undefined) throw neverBegun(error);
  process.exitCode = exitCodeFor(result, error);
  const { type: _, ...told } = result;
  if (out.json) {
    if (!out.jsonl) out.value(told);
    return;
  }
  // A program gets the answer and nothing that was said on the way to it.
  if (!isWatched) process.stdout.write(result.text);
  if (result.text !== "" && !result.text.endsWith("\n")) process.stdout.write("\n");
}

/** Marks for colours are for whoever paints them. */
function unmarked(event: AgentEvent): AgentEvent {
  return event.type === "tool_result" ? { ...event, human: plainText(event.human) } : event;
}

function remark(out: Output, event: AgentEvent): void {
  switch (event.type) {
    case "text":
      process.stdout.write(event.delta);
      break;
    case "notice":
      out.note(event.message);
      break;
    case "error":
      out.note(event.hint === undefined ? event.message : `${event.message}\n${event.hint}`);
      break;
    case "tool_use":
      out.note(`… ${event.name}`);
      break;
    case "tool_result":
      out.note(`${out.mark(event.ok ? "ok" : "error")} ${event.name}`);
      break;
    default:
  }
}

/** A turn without a result: somebody else has the conversation, or it cannot be written. */
function neverBegun(error: AgentError | undefined): HermesError {
  const code = error?.code === "busy" ? "unavailable" : "internal";
  return commandError(code, error?.message ?? "The turn ended without a result", error?.hint);
}

/** What the last error of a model means for scripts. */
const CODES: Readonly<Record<string, number>> = {
  model_refused: EXIT.authentication,
  model_quota: EXIT.authentication,
  model_unreachable: EXIT.unreachable,
  model_busy: EXIT.unreachable,
};

function exitCodeFor({ stop }: AgentResult, error: AgentError | undefined): number {
  switch (stop) {
    case "end":
      return EXIT.ok;
    case "interrupted":
      return EXIT.interrupted;
    case "max_turns":
    case "budget":
      return EXIT.toolError;
    case "error":
      return CODES[error?.code ?? ""] ?? EXIT.unexpected;
  }
}
