import { randomBytes } from "node:crypto";
import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import type { Decision } from "../tool/call.js";
import type { Effect } from "../tool/effects.js";
import { type Failure, failure } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { type CallRecord, wholeMicroseconds } from "./call-record.js";
import { previewOf } from "./preview.js";
import type { ApprovalAnswer, ApprovalReply, ApprovalRequest, Review } from "./scope.js";

/** Turns an "ask" into a yes of the person, or ends the call. Silence and absence are a no. */
export function approve(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  const { decision, grantKeys, scope } = call;
  if (decision === undefined || decision.verdict !== "ask") return countGrants(call);
  if (grantKeys.length > 0 && grantKeys.every((key) => scope.grants.has(key))) {
    call.decision = { ...decision, answer: "session" };
    return countGrants(call);
  }
  return seekConsent(call, decision);
}

/** A permanent grant is used when the call it helped to pass is let through, also beside somebody's yes. */
function countGrants({ judged, scope }: CallRecord): undefined {
  if (judged?.grantsUsed !== undefined) scope.services.permanentGrants?.countUse(judged.grantsUsed);
}

async function seekConsent(call: CallRecord, decision: Decision): Promise<Failure | undefined> {
  const asked = performance.now();
  try {
    return await consentFrom(call, decision);
  } finally {
    call.approvalWaitMs = wholeMicroseconds(performance.now() - asked);
  }
}

async function consentFrom(call: CallRecord, decision: Decision): Promise<Failure | undefined> {
  const request = requestOf(call, decision);
  const review = await askReviewer(call, request);
  if (review?.decision === "approve") {
    // Covers this one call: a model's yes is never remembered.
    call.decision = { ...decision, answer: "reviewer" };
    return bindTo(call, request);
  }
  if (review?.decision === "deny") {
    call.decision = { ...decision, answer: "deny", by: "reviewer" };
    return refusedByReviewer(call, review.reason);
  }
  const reply = await askPerson(call, review === undefined ? request : { ...request, review: review.reason });
  return typeof reply === "string" ? unanswered(call, decision, reply) : answered(call, request, reply);
}

async function answered(
  call: CallRecord,
  request: ApprovalRequest,
  reply: ApprovalReply,
): Promise<Failure | undefined> {
  const { scope, grantKeys } = call;
  const { answer, by } = reply;
  call.decision = { ...(call.decision as Decision), answer, by };
  if (answer === "deny") {
    if (call.signal?.aborted === true) return failure("cancelled", "interrupted while waiting for approval");
    const asked = toldReason(call, request.reason);
    const why = reply.reason === undefined ? asked : `${asked}: ${reply.reason}`;
    return failure("denied", `the person denied it (${why})`, "Do not retry it; ask what they would prefer.");
  }
  const changed = bindTo(call, request);
  if (changed !== undefined) return changed;
  // "Always" is about exactly this; only its wider form covers the kind of danger, like "session".
  const wide = answer === "session" || (answer === "always" && reply.widen === true);
  if (wide) for (const key of grantKeys) scope.grants.add(key);
  if (answer === "always") await remember(call, request, reply.widen === true);
  scope.reviews.denials = 0;
  return undefined;
}

/** From here on only exactly this may run; `execute` looks once more when it begins. */
function bindTo(call: CallRecord, { hash }: ApprovalRequest): Failure | undefined {
  call.approvedHash = hash;
  return changedSinceApproval(call) ?? countGrants(call);
}

/** Somebody may still hold the arguments and change them while the call waits for its turn. */
export function changedSinceApproval(call: CallRecord): Failure | undefined {
  if (call.approvedHash === undefined || call.approvedHash === bindingOf(call)) return undefined;
  return failure("denied", "the arguments changed after they were shown for approval, so nothing was run");
}

/** The person has said yes either way; that it could not be written down must not undo it. */
async function remember(call: CallRecord, request: ApprovalRequest, widen: boolean): Promise<void> {
  const { permanentGrants, log } = call.scope.services;
  const entries = widen ? request.sessionKeys : request.remember;
  if (permanentGrants === undefined || entries.length === 0) return;
  try {
    await permanentGrants.remember(entries, request);
  } catch (error) {
    log.error(`the approval counts for this session but was not saved: ${describeThrown(error).message}`);
  }
}

/** A question may quote, for the person, what the model is not to hear. */
function toldReason({ effects }: CallRecord, reason: string): string {
  return effects.find(({ ask }) => ask?.reason === reason)?.ask?.told ?? reason;
}

function unanswered(call: CallRecord, decision: Decision, answer: "nobody" | "timeout"): Failure {
  const { scope } = call;
  call.decision = { ...decision, answer };
  if (call.signal?.aborted === true) return failure("cancelled", "interrupted while waiting for approval");
  const what = toldReason(call, decision.reason ?? `rule ${decision.rule}`);
  if (answer === "nobody") {
    announceUnasked(call, decision);
    return failure(
      "denied",
      `needs approval (${what}), and nobody can be asked here`,
      "Run it where a person can answer.",
    );
  }
  return failure(
    "timed_out_waiting",
    `needed approval (${what}); nobody answered within ${scope.services.approvalTimeoutMs / 1000} s`,
  );
}

/** The caller is told by its result; whoever could be there the next time only by this. */
function announceUnasked(call: CallRecord, { reason, rule }: Decision): void {
  const { scope } = call;
  const { events, redact } = scope.services;
  events.emit({
    type: "approval.unasked",
    id: call.id,
    tool: redact(call.name),
    preview: previewOf(call),
    reason: redact(reason ?? `rule ${rule}`),
    session: scope.info.id,
    conversation: scope.conversations.at(-1),
    door: scope.door,
    environment: scope.environment.name,
    at: Date.now(),
  });
}

function refusedByReviewer(call: CallRecord, reason: string): Failure {
  const { denials } = call.scope.reviews;
  return failure(
    "denied",
    `the safety reviewer denied it: ${reason}`,
    denials < 3
      ? "Do not retry it in another spelling; find a safer way, or ask the person."
      : "That was the third denial. Stop here and tell the person what you wanted to do and why.",
  );
}

/** Everything an approver needs to know, and a hash that binds the answer to exactly this. */
function requestOf(call: CallRecord, decision: Decision): ApprovalRequest {
  const { scope, judged } = call;
  return {
    id: `apr_${randomBytes(9).toString("base64url")}`,
    hash: bindingOf(call),
    callId: call.id,
    tool: call.entry.name,
    // A copy: whoever is asked may keep it, and must not hold what will run.
    args: structuredClone(call.args),
    effects: call.effects,
    rule: decision.rule,
    reason: decision.reason ?? `rule ${decision.rule}`,
    environment: scope.environment.name,
    environmentKind: scope.environment.kind,
    session: scope.info,
    conversation: scope.conversations.at(-1),
    door: scope.door,
    segments: judged?.segments ?? [],
    sessionKeys: call.grantKeys,
    // A hook's question is its own; what the policy would remember does not answer it.
    remember: call.grantKeys.length === 0 ? [] : (judged?.remember ?? []),
    expiresAt: Date.now() + scope.services.approvalTimeoutMs,
  };
}

/** Binds an approval to what was approved: the same tool, arguments, effects and place. */
export function approvalHash(call: {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  readonly environment: string;
  readonly cwd: string;
}): string {
  const { tool, args, effects, environment, cwd } = call;
  return sha256(canonicalJson({ tool, args, effects, environment, cwd }));
}

function bindingOf({ entry, args, effects, scope }: CallRecord): string {
  const environment = scope.environment.name;
  return approvalHash({ tool: entry.name, args, effects, environment, cwd: scope.info.cwd });
}

async function askPerson(
  call: CallRecord,
  request: ApprovalRequest,
): Promise<ApprovalReply | "nobody" | "timeout"> {
  const { scope } = call;
  const { approver } = scope;
  if (approver === undefined) return "nobody";
  scope.onWaiting?.(true);
  try {
    if ((await approver.isThere?.()) === false) return "nobody";
    call.approval = request.id;
    const answer = await withPatience(call, (signal) => approver.ask(request, signal));
    return answer === SILENCE ? "timeout" : readReply(answer);
  } catch (error) {
    scope.services.log.error(`approver failed, treating it as a denial: ${describeThrown(error).message}`);
    return { answer: "deny" };
  } finally {
    scope.onWaiting?.(false);
  }
}

const SILENCE = Symbol("nobody answered in time");
/** Longer timers overflow and fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The answer, or silence once the time for approvals is over or the call is interrupted. */
async function withPatience<Answer>(
  { signal, scope }: CallRecord,
  ask: (signal: AbortSignal) => Promise<Answer> | Answer,
): Promise<Answer | typeof SILENCE> {
  const over = new AbortController();
  const silent = new Promise<typeof SILENCE>((resolve) => {
    over.signal.addEventListener("abort", () => resolve(SILENCE), { once: true });
  });
  const giveUp = () => over.abort();
  // Unlike AbortSignal.timeout this keeps the process alive: silence must end in an answer.
  const patience = setTimeout(giveUp, Math.min(scope.services.approvalTimeoutMs, LONGEST_TIMER_MS));
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([ask(over.signal), silent]);
  } finally {
    clearTimeout(patience);
    signal?.removeEventListener("abort", giveUp);
  }
}

const CONSENT: readonly unknown[] = ["once", "session", "always"];

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Only the exact words count as consent. */
function readReply(given: unknown): ApprovalReply {
  const reply: { readonly [Field in keyof ApprovalReply]?: unknown } =
    typeof given === "object" && given !== null ? given : { answer: given };
  return {
    answer: CONSENT.includes(reply.answer) ? (reply.answer as ApprovalAnswer) : "deny",
    by: textOrNone(reply.by),
    reason: textOrNone(reply.reason),
    widen: reply.widen === true,
  };
}

/** A reviewer that only ever says no is broken or being argued with: from then on a person decides. */
const DENIALS_BEFORE_BREAK = 3;

/** The reviewer's word on a question, or undefined when it is not its to answer. Every mishap escalates. */
async function askReviewer(call: CallRecord, request: ApprovalRequest): Promise<Review | undefined> {
  const { scope, judged, hookQuestion } = call;
  const { reviewer, log } = scope.services;
  if (reviewer === undefined || hookQuestion !== undefined || judged?.personOnly === true) return undefined;
  if (scope.reviews.denials >= DENIALS_BEFORE_BREAK) {
    return { decision: "escalate", reason: "the reviewer denied three times; a person decides now" };
  }
  try {
    const review = await withPatience(call, (signal) => reviewer.review(request, signal));
    if (review === SILENCE) return { decision: "escalate", reason: "the reviewer did not answer in time" };
    if (review.usage !== undefined) call.countUsage(review.usage, review.model, "review");
    if (review.decision === "approve") return review;
    if (review.decision !== "deny") return { decision: "escalate", reason: review.reason };
    scope.reviews.denials += 1;
    if (scope.reviews.denials === DENIALS_BEFORE_BREAK)
      log.warn("the reviewer model denied three times in a row");
    return review;
  } catch (error) {
    const { message } = describeThrown(error);
    log.warn(`the reviewer model failed, a person decides: ${message}`);
    return { decision: "escalate", reason: `the reviewer failed: ${message}` };
  }
}
