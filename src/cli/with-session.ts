import type { Runtime } from "../runtime/runtime.js";
import type { Session } from "../runtime/session.js";
import { terminalApprover } from "./approval-prompt.js";
import type { CommandContext } from "./globals.js";
import { showProgress } from "./progress.js";

/** Opens a session for one command and closes everything afterwards. Ctrl-C aborts what is running. */
export async function withSession(
  context: CommandContext,
  work: (session: Session, signal: AbortSignal, runtime: Runtime) => Promise<void>,
): Promise<void> {
  const runtime = await context.runtime();
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  const stopProgress = showProgress(runtime, context.out);
  try {
    const approver = terminalApprover(context.out);
    const session = await runtime.openSession({ door: "cli", ...(approver !== undefined && { approver }) });
    await work(session, controller.signal, runtime);
  } finally {
    stopProgress();
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
    await runtime.close();
  }
}
