import type { ApprovalRequest, JudgedSegment } from "../../call/scope.js";
import type { SignedAnswer } from "./signature.js";

/** Open: pending, approved. Settled: denied, expired, consumed; nothing happens to those any more. */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "consumed";

/** What is shown of a question outside its process. Field names are part of the public interface. */
export interface ShownQuestion {
  readonly tool: string;
  /** The gist on one line: the command, the path, the address. */
  readonly what: string;
  readonly args: unknown;
  readonly reason: string;
  readonly rule: string;
  readonly effects: readonly { readonly action: string; readonly resource: string }[];
  readonly segments: readonly JudgedSegment[];
  readonly environment: string;
  readonly cwd: string;
  readonly profile: string;
  readonly session: string;
  /** The call that waits, and the conversation it belongs to; absent in what an older version asked. */
  readonly call_id?: string | undefined;
  readonly conversation?: string | undefined;
  readonly door: string;
  readonly session_covers: readonly string[];
  readonly always_remembers: readonly string[];
  readonly review?: string | undefined;
}

/** What is needed to run the call in another process; holds arguments as they are, so it never leaves the store. */
export interface StoredCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly profile: string;
  readonly cwd: string;
  readonly workspace: string;
  readonly environment: string;
}

export interface ApprovalRecord {
  readonly id: string;
  readonly hash: string;
  readonly tool: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The process that asked. */
  readonly owner: string;
  readonly status: ApprovalStatus;
  /** Who may answer; undefined means everybody with the right to approve. */
  readonly audience?: readonly string[];
  readonly shown: ShownQuestion;
  /** Gone once the question is settled. */
  readonly call?: StoredCall;
  readonly answer?: SignedAnswer;
  readonly signature: string;
}

/** Longer texts are cut in the middle: the end of a command matters as much as its beginning. */
const SHOWN_CHARS = 16_384;
const GIST_CHARS = 1_000;
const MAX_LISTED = 100;

export function shownQuestion(request: ApprovalRequest, redact: (text: string) => string): ShownQuestion {
  const show = (text: string) => cutMiddle(redact(text), SHOWN_CHARS);
  return {
    tool: request.tool,
    what: cutMiddle(redact(gistOf(request)), GIST_CHARS),
    args: mapTexts(request.args, show),
    reason: show(request.reason),
    rule: show(request.rule),
    effects: request.effects
      .slice(0, MAX_LISTED)
      .map(({ action, resource }) => ({ action, resource: show(resource) })),
    segments: request.segments.slice(0, MAX_LISTED).map((segment) => ({
      ...segment,
      text: show(segment.text),
      canonical: show(segment.canonical),
      reason: show(segment.reason),
    })),
    environment: request.environment,
    cwd: request.session.cwd,
    profile: request.session.profile,
    session: request.session.id,
    call_id: show(request.callId),
    conversation: request.conversation,
    door: request.door,
    session_covers: request.sessionKeys.map(show),
    always_remembers: request.remember.map(show),
    review: request.review === undefined ? undefined : show(request.review),
  };
}

export function storedCall(request: ApprovalRequest): StoredCall {
  const { callId, tool, args, environment, session } = request;
  const { profile, cwd, workspace } = session;
  return { callId, tool, args, profile, cwd, workspace, environment };
}

/** The record as HTTP and `--json` show it. */
export interface PublicApproval extends ShownQuestion {
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly hash: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly owner_alive: boolean;
  readonly audience?: readonly string[] | undefined;
  readonly answer?: SignedAnswer["answer"] | undefined;
  readonly answered_by?: string | undefined;
  readonly answered_at?: number | undefined;
  readonly answer_reason?: string | undefined;
  readonly signature: string;
  /** What each yes would cover, in words; absent where that yes is not offered. */
  readonly covers: {
    readonly once: string;
    readonly session?: string | undefined;
    readonly always?: string | undefined;
  };
}

export function publicRecord(
  record: ApprovalRecord,
  { ownerAlive }: { readonly ownerAlive: boolean },
): PublicApproval {
  const { answer } = record;
  return {
    id: record.id,
    status: record.status,
    ...record.shown,
    covers: coveredBy(record.shown),
    hash: record.hash,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
    owner_alive: ownerAlive,
    ...(record.audience !== undefined && { audience: record.audience }),
    ...(answer !== undefined && {
      answer: answer.answer,
      answered_by: answer.by,
      answered_at: answer.at,
      answer_reason: answer.reason,
    }),
    signature: record.signature,
  };
}

function coveredBy({
  session_covers: keys,
  always_remembers: remembered,
}: ShownQuestion): PublicApproval["covers"] {
  return {
    once: "This one call, exactly as it is shown.",
    ...(keys.length > 0 && {
      session: `Until the session ends: every call asked about for ${keys.join(", ")}, also with other arguments.`,
    }),
    ...(keys.length > 0 &&
      remembered.length > 0 && { always: `From now on, in every session: ${remembered.join("; ")}` }),
  };
}

function gistOf({ effects, args }: ApprovalRequest): string {
  const touched = effects.map(({ action, resource }) => (resource === "*" ? action : resource));
  return touched.length === 0 ? JSON.stringify(args) : touched.join("; ");
}

export function cutMiddle(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.floor(chars / 2);
  return `${text.slice(0, half)} … ${text.length - 2 * half} of ${text.length} characters not shown … ${text.slice(-half)}`;
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]),
  );
}
