import { join } from "node:path";
import { Agents } from "../../agent/agents.js";
import { openConversations } from "../../agent/sessions/conversation-store.js";
import { hermesPaths } from "../../config/paths.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type CommandContext, exitSoon } from "../context.js";
import { terminalApprover } from "../session/approval-prompt.js";
import { reportUncaughtErrors, unattendedApprover } from "../session/with-session.js";
import { ChatAgent } from "./chat-agent.js";
import { ChatApp } from "./chat-app.js";
import { InputHistory } from "./history.js";
import { chosenConversation, chosenModel, mostTurns } from "./open.js";

const ENDINGS = [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGQUIT", 131],
] as const;

/** A chat on this terminal, until the person leaves it. */
export async function chatInteractively(context: CommandContext): Promise<void> {
  const runtime = await context.runtime({ calls: true });
  reportUncaughtErrors(runtime);
  // A terminal that has gone away takes nothing any more.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  try {
    const store = await openConversations(hermesPaths(context.home), { log: runtime.sharedLog });
    for (const notice of store.notices) runtime.log.warn(notice);
    try {
      await talk(context, { runtime, store });
    } finally {
      await store.close();
    }
  } finally {
    await runtime.close();
    exitSoon();
  }
}

async function talk(
  context: CommandContext,
  { runtime, store }: { runtime: Runtime; store: Awaited<ReturnType<typeof openConversations>> },
): Promise<void> {
  const { out, home, options, flags } = context;
  const app = new ChatApp({ out, home, runtime, store });
  const notice = (message: string) => app.note(message);
  const model = await chosenModel(context, { runtime, notice });
  const approver =
    runtime.approvals.configured() ??
    terminalApprover({ out, interrupt: () => app.stop(), alone: (ask) => app.away(ask) }) ??
    unattendedApprover(runtime, out);
  const chat = await ChatAgent.open(
    {
      runtime,
      store,
      agents: new Agents(runtime, { store }),
      model,
      approver,
      ask: (question) => app.ask(question),
      profile: flags.profile,
      plan: options.plan === true,
      maxTurns: mostTurns(context),
      notice,
    },
    await chosenConversation(context, store),
  );
  const history = await InputHistory.open(join(home, "chat-history.jsonl"));
  const signals = listen(app);
  try {
    await app.run({ chat, history });
  } finally {
    signals.off();
    const { conversation } = chat.agent;
    await chat.close();
    if (chat.spent.requests > 0)
      process.stdout.write(out.color.dim(`hermes chat --resume ${conversation} goes on with this.\n`));
  }
}

/** The person's shell, or the system, wants something of us: never without giving the terminal back. */
function listen(app: ChatApp): { off(): void } {
  const handlers = ENDINGS.map(([signal, code]) => {
    const end = () => {
      process.exitCode = code;
      app.quit();
    };
    process.on(signal, end);
    return () => process.off(signal, end);
  });
  const interrupt = () => app.interrupt();
  process.on("SIGINT", interrupt);
  return {
    off() {
      for (const off of handlers) off();
      process.off("SIGINT", interrupt);
    },
  };
}
