import type { ApprovalRequest } from "../../src/call/scope.js";

/** A question about one terminal command. */
export function requestFor(command: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    id: "apr_1",
    hash: "0".repeat(64),
    callId: "call_1",
    tool: "terminal",
    args: { command },
    effects: [{ action: "terminal:execute", resource: command, mode: "execute" }],
    rule: "recursive-delete",
    reason: "deletes a folder with everything in it",
    environment: "local",
    environmentKind: "local",
    session: {
      id: "s_1",
      profile: "default",
      cwd: "/home/somebody/project",
      workspace: "/home/somebody/project",
    },
    door: "library",
    segments: [
      {
        text: command,
        canonical: command,
        verdict: "danger",
        rule: "recursive-delete",
        reason: "deletes a folder with everything in it",
      },
    ],
    sessionKeys: ["recursive-delete"],
    remember: [command],
    expiresAt: 0,
    ...more,
  };
}
