import { randomBytes } from "node:crypto";
import type { ApprovalRequest, Review, Reviewer } from "../../call/scope.js";
import { escalate, readAnswer } from "./answer.js";
import { type Completion, type Dialect, type Fetch, requestCompletion, USUAL_DIALECT } from "./completion.js";
import { completionsUrl } from "./endpoint.js";
import { askAbout, type Message } from "./question.js";

export interface ReviewerOptions {
  /** Base address of an OpenAI-compatible server, as the operator configured it; it may be a local one. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
  readonly timeoutMs: number;
  /** Masks secrets in what is sent and in what comes back. */
  redact?(text: string): string;
  readonly fetch?: Fetch;
}

/** A model that may answer in a person's place. Whatever goes wrong, the answer is "escalate", never "approve". */
export function createReviewer(options: ReviewerOptions): Reviewer {
  const redact = options.redact ?? ((text: string) => text);
  const url = completionsUrl(options.url);
  const server = { dialect: USUAL_DIALECT };
  return {
    async review(request: ApprovalRequest, signal: AbortSignal): Promise<Review> {
      if (url === undefined) return escalate("approvals.reviewer.url is not an http or https address");
      const question = askAbout(request, { redact, nonce: () => randomBytes(12).toString("hex") });
      if ("unfit" in question) return escalate(question.unfit);
      const deadline = AbortSignal.timeout(options.timeoutMs);
      try {
        const completion = await converse({
          ...options,
          url,
          messages: question.messages,
          signal: AbortSignal.any([signal, deadline]),
          server,
        });
        if ("trouble" in completion) return escalate(completion.trouble);
        const review = readAnswer(completion.content);
        return { ...review, reason: redact(review.reason) };
      } catch (error) {
        if (deadline.aborted) return escalate(`it did not answer within ${options.timeoutMs / 1000} s`);
        return escalate(signal.aborted ? "the call was interrupted" : `its server failed (${codeOf(error)})`);
      }
    },
  };
}

/** Asks once, and again for each field the server turns out not to know; what it knows is kept for the next time. */
async function converse(
  options: ReviewerOptions & {
    readonly messages: readonly Message[];
    readonly signal: AbortSignal;
    readonly server: { dialect: Dialect };
  },
): Promise<Completion> {
  const { Agent, fetch } = await import("undici");
  const { url, model, apiKey, messages, signal, server } = options;
  // A connection of its own, closed afterwards, keeps no idle process alive and shares no state.
  const dispatcher = new Agent();
  try {
    for (let dialect = server.dialect; ; ) {
      const completion = await requestCompletion({
        endpoint: { url, model, ...(apiKey !== undefined && { apiKey }) },
        messages,
        dialect,
        signal,
        fetch: options.fetch ?? fetch,
        ...(options.fetch === undefined && { dispatcher }),
      });
      if (!("retry" in completion) || completion.retry === undefined) {
        if ("content" in completion) server.dialect = dialect;
        return completion;
      }
      dialect = completion.retry;
    }
  } finally {
    await dispatcher.destroy();
  }
}

/** A short name of what went wrong: messages of a failed request could quote what was sent. */
function codeOf(error: unknown): string {
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    if ("code" in inner && typeof inner.code === "string") return inner.code;
  }
  return error instanceof Error ? error.name : "unknown";
}
