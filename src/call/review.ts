import { describeThrown } from "../tool/thrown.js";
import type { CallRecord } from "./call-record.js";
import type { ApprovalRequest, Review } from "./scope.js";

/** A reviewer that only ever says no is broken or being argued with: from then on a person decides. */
const DENIALS_BEFORE_BREAK = 3;

/** The reviewer's word on a question, or undefined when it is not its to answer. Every mishap escalates. */
export async function askReviewer(call: CallRecord, request: ApprovalRequest): Promise<Review | undefined> {
  const { scope, judged, hookQuestion } = call;
  const { reviewer, log } = scope.services;
  if (reviewer === undefined || hookQuestion !== undefined || judged?.personOnly === true) return undefined;
  if (scope.reviews.denials >= DENIALS_BEFORE_BREAK) {
    return { decision: "escalate", reason: "the reviewer denied three times; a person decides now" };
  }
  try {
    const review = await reviewer.review(request, call.signal ?? new AbortController().signal);
    if (review.usage !== undefined) call.countUsage(review.usage, review.model);
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
