import type { ApprovalReply, ApprovalRequest, Approver } from "../../src/call/scope.js";
import type { RuntimeOptions } from "../../src/index.js";
import type { Session } from "../../src/runtime/session.js";
import { testRuntime } from "../support/runtime.js";

/** A runtime with the real tools and the real policy, and a person who answers every question the same way. */
export async function withPerson(
  reply: ApprovalReply | ApprovalReply["answer"],
  options: Partial<RuntimeOptions> = {},
) {
  const asked: ApprovalRequest[] = [];
  const approver: Approver = {
    async ask(request) {
      asked.push(request);
      return reply;
    },
  };
  const { runtime, home, cwd } = await testRuntime([], { builtins: true, ...options });
  const open = (folder = cwd) => runtime.openSession({ approver, cwd: folder });
  return { runtime, home, cwd, asked, open, session: await open() };
}

export function run(session: Session, command: string) {
  return session.call({ name: "terminal", arguments: { command } });
}

/** What would be decided, found out without running or asking anything. */
export async function decisionOn(session: Session, command: string): Promise<string> {
  const { decision } = await session.explainCall({ name: "terminal", arguments: { command } });
  return decision?.verdict ?? "none";
}
