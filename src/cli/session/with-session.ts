import { visible } from "../../base/visible-text.js";
import type { Approver } from "../../call/scope.js";
import type { ApprovalRecord } from "../../policy/approvals/record.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Session } from "../../runtime/session.js";
import { describeThrown } from "../../tool/thrown.js";
import { type CommandContext, exitSoon } from "../context.js";
import { brief, type Output } from "../output.js";
import { terminalApprover } from "./approval-prompt.js";
import { ProgressDisplay } from "./progress.js";

const LONGEST_REASON = 500;

interface Surroundings {
  readonly runtime: Runtime;
  /** Writes whole lines to the terminal without the lines of running calls getting among them. */
  above(write: () => void): void;
}

/** Opens a session for one command and closes everything afterwards. Ctrl-C aborts what is running. */
export async function withSession(
  context: CommandContext,
  work: (session: Session, signal: AbortSignal, around: Surroundings) => Promise<void>,
): Promise<void> {
  const { out } = context;
  const runtime = await context.runtime({ calls: true });
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  reportUncaughtErrors(runtime);
  const stopStream = out.jsonl ? runtime.events.on((event) => out.value(event)) : () => undefined;
  const progress = out.quiet || out.json ? undefined : new ProgressDisplay(runtime.events, out);
  try {
    const alone = <T>(ask: () => Promise<T>) => progress?.pausedWhile(ask) ?? ask();
    const approver =
      runtime.approvals.configured() ??
      terminalApprover({ out, interrupt, alone }) ??
      unattendedApprover(runtime, out);
    const session = await runtime.openSession({ door: "cli", approver });
    const above = (write: () => void) => progress?.above(write) ?? write();
    await work(session, controller.signal, { runtime, above });
  } finally {
    progress?.stop();
    stopStream();
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
    noteEnding(context, runtime);
    await runtime.close();
    exitSoon();
  }
}

/** A command is a short life: what it started in the background ends with it. */
function noteEnding({ out }: CommandContext, runtime: Runtime): void {
  const running = runtime.processes.list().filter(({ status }) => status === "running");
  if (running.length === 0) return;
  const what = running.length === 1 ? "the background process" : `${running.length} background processes`;
  out.note(`${what} ended with this command; sessions of \`hermes serve\` keep theirs running`);
}

/** Promises and timers that a tool forgot may fail when nobody waits for them: said, but no call is lost by it. */
export function reportUncaughtErrors(runtime: Runtime): void {
  const report = (thrown: unknown) => {
    const { type, message } = describeThrown(thrown);
    runtime.log.error(`an error that nothing caught, left behind by a tool: ${type}: ${message}`);
  };
  process.on("unhandledRejection", report);
  process.on("uncaughtException", report);
}

/** For a command without a terminal: the queue while the settings or an open page let it wait, otherwise nobody. */
export function unattendedApprover({ approvals }: Runtime, out: Output): Approver {
  const onPending = ({ id, tool, shown, expiresAt }: ApprovalRecord) => {
    const seconds = Math.round((expiresAt - Date.now()) / 1000);
    const reason = brief(visible(shown.reason), LONGEST_REASON);
    out.note(
      `${visible(tool)} waits ${seconds} s for approval (${reason}): on the page, or hermes approvals approve ${id}`,
    );
  };
  return approvals.unattended("unattended_mode", { onPending });
}
