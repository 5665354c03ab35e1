import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { visible } from "../../base/visible-text.js";
import type { ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver } from "../../call/scope.js";
import { type ShownQuestion, shownQuestion } from "../../policy/approvals/record.js";
import type { CallContext } from "../../tool/tool.js";

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
              enum: choices !== undefined && choices.length > 0 ? [...choices] : undefined,
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

const BAR = "│ ";

/**
 * Everything a person should know before answering, exactly as it is. Texts that come from elsewhere stand behind a
 * bar, each line with its own, so that none of them can look like something this program says.
 */
export function approvalText(request: ApprovalRequest, redact: (text: string) => string): string {
  const shown = shownQuestion(request, redact);
  return [
    `${visible(shown.tool)} asks for approval: ${visible(shown.reason)}`,
    ...argumentLines(shown.args),
    ...effectLines(shown),
    `where: environment ${visible(shown.environment)}, folder ${visible(shown.cwd)}`,
    `rule: ${visible(shown.rule)}`,
    ...(shown.review === undefined ? [] : [`reviewer: ${visible(shown.review)}`]),
    ...choiceLines(request, shown),
  ].join("\n");
}

function argumentLines(args: unknown): readonly string[] {
  return Object.entries(args as Readonly<Record<string, unknown>>).flatMap(([name, value]) => [
    `argument ${visible(name)}:`,
    ...barred(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

function barred(text: string): readonly string[] {
  return text.split("\n").map((line) => BAR + visible(line));
}

function effectLines({ effects }: ShownQuestion): readonly string[] {
  if (effects.length === 0) return [];
  return ["it would:", ...effects.flatMap(({ action, resource }) => barred(`${action}  ${resource}`))];
}

function choiceLines(request: ApprovalRequest, shown: ShownQuestion): readonly string[] {
  return [
    "once: allow exactly this call",
    ...(offersSession(request)
      ? [`session: also every later call asked about for ${shown.session_covers.map(visible).join(", ")}`]
      : []),
    ...(offersAlways(request)
      ? ["always: remember for good, for this text only", ...shown.always_remembers.flatMap(barred)]
      : []),
    "deny: do not run it",
  ];
}

function offersSession({ sessionKeys }: ApprovalRequest): boolean {
  return sessionKeys.length > 0;
}

function offersAlways({ remember }: ApprovalRequest): boolean {
  return remember.length > 0;
}
