import type { ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver } from "../call/scope.js";
import type { SessionOptions } from "./session.js";

/** Answers one question; what it throws is a no. Always a promise: beside a plain answer, `async () => "once"` is any string. */
export type ApproverFunction = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<ApprovalAnswer | ApprovalReply>;

/** What a session is opened with. */
export interface OpenSessionOptions extends Omit<SessionOptions, "approver"> {
  /** Answers approvals, as an object or a function; without one, what needs approval is denied. */
  readonly approver?: Approver | ApproverFunction | undefined;
}

export function approverFrom(answer: ApproverFunction): Approver {
  return { ask: async (request, signal) => answer(request, signal) };
}

export const KNOWN_SESSION_OPTIONS: Readonly<Record<keyof OpenSessionOptions, true>> = {
  toolsets: true,
  disabledToolsets: true,
  profile: true,
  environment: true,
  task: true,
  continues: true,
  conversation: true,
  cwd: true,
  workspace: true,
  approver: true,
  model: true,
  contextTokens: true,
  labels: true,
  host: true,
  ask: true,
  door: true,
  guardrails: true,
  turnsUnseen: true,
  heard: true,
};
