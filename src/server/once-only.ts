import type { Approver } from "../call/scope.js";

/** For a session that several clients share: a yes for the session would be a yes to all of them. */
export function onceOnly(approver: Approver): Approver {
  return {
    async ask(request, signal) {
      const given = await approver.ask({ ...request, sessionKeys: [] }, signal);
      const reply = typeof given === "string" ? { answer: given } : given;
      return reply.answer === "session" ? { ...reply, answer: "once" } : reply;
    },
  };
}
