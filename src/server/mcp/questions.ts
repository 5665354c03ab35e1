import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { visible } from "../../base/visible-text.js";
import type { ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver } from "../../call/scope.js";
import type { CallContext } from "../../tool/tool.js";
import { approvalText, offersAlways, offersSession } from "./question-text.js";

/** A question to the person behind a client, as the protocol writes it. */
export type Question = ElicitRequestFormParams;

/** What came back, judged by nobody yet. */
export type RawAnswer = unknown;

/** Takes one question to the person behind a client. Undefined when no answer came. */
export type AskClient = (question: Question, signal: AbortSignal) => Promise<RawAnswer | undefined>;

const DENIED: ApprovalReply = { answer: "deny", by: "mcp" };

/** Asks for approval through the client. Whatever is not one of the offered words is a no. */
export function clientApprover(options: {
  readonly askClient: AskClient;
  readonly redact: (text: string) => string;
  /** False where others share the session: a yes for the session would be a yes to all of them. */
  readonly ownSession: boolean;
}): Approver {
  const { askClient, redact, ownSession } = options;
  return {
    async ask(given, signal) {
      const request: ApprovalRequest = ownSession ? given : { ...given, sessionKeys: [] };
      const choices: readonly ApprovalAnswer[] = [
        "once",
        ...(offersSession(request) ? (["session"] as const) : []),
        ...(offersAlways(request) ? (["always"] as const) : []),
        "deny",
      ];
      const answer = await askClient(
        {
          message: approvalText(request, redact),
          requestedSchema: {
            type: "object",
            properties: {
              decision: {
                type: "string",
                title: "Decision",
                description: "Whether the call may run",
                enum: [...choices],
              },
            },
            required: ["decision"],
          },
        },
        signal,
      );
      const decision = acceptedField(answer, "decision");
      const chosen = choices.find((choice) => choice === decision);
      return chosen === undefined ? DENIED : { answer: chosen, by: "mcp" };
    },
  };
}

/** `ctx.ask` through the client. */
export function clientAsk(options: {
  readonly askClient: AskClient;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}): CallContext["ask"] {
  return async ({ question, choices, secret }) => {
    // The protocol forbids to ask for secrets in a form: what is typed into one is kept and shown.
    if (secret === true) return undefined;
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
    const answer = await options.askClient(
      {
        message: question.split("\n").map(visible).join("\n"),
        requestedSchema: {
          type: "object",
          properties: {
            answer: {
              type: "string",
              title: "Answer",
              ...(choices !== undefined && choices.length > 0 && { enum: [...choices] }),
            },
          },
          required: ["answer"],
        },
      },
      signal,
    );
    const given = acceptedField(answer, "answer");
    if (typeof given !== "string") return undefined;
    return choices === undefined || choices.length === 0 || choices.includes(given) ? given : undefined;
  };
}

/** One field of an accepted form; declined, cancelled and malformed answers have none. */
function acceptedField(answer: RawAnswer | undefined, field: string): unknown {
  if (typeof answer !== "object" || answer === null) return undefined;
  const { action, content } = answer as { readonly action?: unknown; readonly content?: unknown };
  if (action !== "accept" || typeof content !== "object" || content === null) return undefined;
  return Object.hasOwn(content, field) ? (content as Record<string, unknown>)[field] : undefined;
}
