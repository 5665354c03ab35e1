import { randomBytes } from "node:crypto";
import type { ApprovalRequest, Review, Reviewer } from "../../call/scope.js";
import type { HermesConfig } from "../../config/types.js";
import { complete, type ModelAnswer, ModelError } from "../../model/model-client.js";
import { chatCompletionsClient } from "../../model/openai-chat.js";
import { askAbout } from "./question.js";

const ANSWER_TOKENS = 200;
const LONGEST_RESPONSE = 65_536;

export interface ReviewerOptions {
  /** Base address of an OpenAI-compatible server, as the operator configured it; it may be a local one. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
  readonly timeoutMs: number;
  /** Masks secrets in what is sent and in what comes back. */
  redact?(text: string): string;
}

/** The reviewer a configuration names; without one, "smart" asks the person like "manual" does. */
export function reviewerFrom(
  { approvals }: HermesConfig,
  redact: (text: string) => string,
): Reviewer | undefined {
  const { url, model, api_key: apiKey, timeout } = approvals.reviewer;
  if (approvals.mode !== "smart" || url.trim() === "" || model.trim() === "") return undefined;
  return createReviewer({ url: url.trim(), model: model.trim(), apiKey, timeoutMs: timeout * 1000, redact });
}

/** A model that may answer in a person's place. Whatever goes wrong, the answer is "escalate", never "approve". */
export function createReviewer(options: ReviewerOptions): Reviewer {
  const redact = options.redact ?? ((text: string) => text);
  const client = chatCompletionsClient({ ...options, stream: false, maxBytes: LONGEST_RESPONSE });
  return {
    async review(request: ApprovalRequest, signal: AbortSignal): Promise<Review> {
      const question = askAbout(request, { redact, nonce: () => randomBytes(12).toString("hex") });
      if ("unfit" in question) return escalate(question.unfit);
      const deadline = AbortSignal.timeout(options.timeoutMs);
      try {
        const answer = await complete(client, {
          messages: question.messages,
          temperature: 0,
          maxTokens: ANSWER_TOKENS,
          json: true,
          signal: AbortSignal.any([signal, deadline]),
        });
        const review = isPlain(answer)
          ? readAnswer(answer.text)
          : escalate("its server sent no plain answer");
        return { ...review, reason: redact(review.reason), model: options.model, usage: answer.usage };
      } catch (error) {
        if (deadline.aborted) return escalate(`it did not answer within ${options.timeoutMs / 1000} s`);
        if (signal.aborted) return escalate("the call was interrupted");
        return escalate(ModelError.isInstance(error) ? error.message : "it failed");
      }
    },
  };
}

/** A refusal, a tool call or a cut-off is no answer. */
function isPlain({ reason, toolCalls }: ModelAnswer): boolean {
  return reason === "stop" && toolCalls.length === 0;
}

const TEXT = '"((?:[^"\\\\\\u0000-\\u001f]|\\\\.)*)"';
const FIELD = `"(decision|reason)"\\s*:\\s*${TEXT}`;
const ANSWER = new RegExp(`^\\s*\\{\\s*${FIELD}\\s*,\\s*${FIELD}\\s*\\}\\s*$`);

const DECISIONS: ReadonlyMap<string, Review["decision"]> = new Map([
  ["APPROVE", "approve"],
  ["DENY", "deny"],
  ["ESCALATE", "escalate"],
]);

/** Models that cannot answer with JSON, and prompts of the original, answer with the word alone. */
const BARE_WORD = /^\s*(APPROVE|DENY|ESCALATE)\.?\s*$/i;

const LONGEST_REASON = 300;

/**
 * Reads `{"decision": …, "reason": …}` or one of the three words alone, and nothing else. The text is matched as a whole instead of being
 * searched, so that an answer around or inside another answer, or a field given twice, is no answer.
 */
export function readAnswer(content: string): Review {
  const word = DECISIONS.get(BARE_WORD.exec(content)?.[1]?.toUpperCase() ?? "");
  if (word !== undefined) return { decision: word, reason: "no reason given" };
  const match = ANSWER.exec(content);
  if (match === null) return escalate("its answer was not the one JSON object it was asked for");
  const [, firstName, firstValue = "", secondName, secondValue = ""] = match;
  if (firstName === secondName) return escalate("its answer gave a field twice");
  const [decision, reason] = firstName === "decision" ? [firstValue, secondValue] : [secondValue, firstValue];
  const known = DECISIONS.get(decision);
  if (known === undefined) return escalate("its decision was none of APPROVE, DENY and ESCALATE");
  const words = plainReason(reason);
  return words === undefined ? escalate("its reason could not be read") : { decision: known, reason: words };
}

function escalate(why: string): Review {
  return { decision: "escalate", reason: `the reviewer gave no verdict: ${why}` };
}

/** The reason is shown to a person and to the model: one short line without anything that steers a screen. */
function plainReason(encoded: string): string | undefined {
  try {
    const text = JSON.parse(`"${encoded}"`) as string;
    const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
    return line === "" ? "no reason given" : line.slice(0, LONGEST_REASON);
  } catch {
    return undefined;
  }
}
