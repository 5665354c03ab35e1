import type { ApprovalRequest, JudgedSegment } from "../../src/call/scope.js";

/** A dangerous part of a command line, as the shell analysis would hand it over. */
export function danger(canonical: string, more: Partial<JudgedSegment> = {}): JudgedSegment {
  return {
    text: canonical,
    canonical,
    verdict: "danger",
    rule: "recursive-delete",
    reason: "deletes a folder with everything in it",
    ...more,
  };
}

export function whereabouts(
  command: string,
  cwd = "/somewhere",
  environment: ApprovalRequest["environmentKind"] = "local",
) {
  return { command, cwd, environment: environment as string, environmentKind: environment };
}

/** The question that is being answered with "always". */
export function questionAbout(
  segments: readonly JudgedSegment[],
  more: Partial<ApprovalRequest> = {},
): ApprovalRequest {
  const remember = segments.map((segment) => segment.canonical);
  return {
    id: "apr_1",
    hash: "",
    callId: "c1",
    tool: "terminal",
    args: {},
    effects: [],
    rule: "recursive-delete",
    reason: "deletes a folder with everything in it",
    environment: "local",
    environmentKind: "local",
    session: { id: "s_1", profile: "default", cwd: "/somewhere", workspace: "/somewhere" },
    door: "cli",
    segments,
    sessionKeys: ["recursive-delete"],
    remember,
    expiresAt: 0,
    ...more,
  };
}
