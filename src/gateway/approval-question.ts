import { visible } from "../base/visible-text.js";
import type { ApprovalAnswer, ApprovalRequest, Approver } from "../call/scope.js";
import type { CallContext } from "../tool/tool.js";
import type { Choice, Questions, QuestionText, Seat } from "./questions.js";

const WORDS: ReadonlyMap<string, ApprovalAnswer> = new Map([
  ["yes", "once"],
  ["y", "once"],
  ["ok", "once"],
  ["approve", "once"],
  ["once", "once"],
  ["session", "session"],
  ["always", "always"],
  ["no", "deny"],
  ["n", "deny"],
  ["deny", "deny"],
]);

/** A no with what to do instead, which the model is told: `no: only the cache`. */
const REFUSAL = /^(?:no|deny)\s*[:,]\s*(\S.*)$/is;

/** Asks the person whose turn it is, in the chat it runs in. A guest cannot say yes to anything. */
export function chatApprover(parts: {
  readonly questions: Questions;
  redact(text: string): string;
  /** Whose turn it is. */
  seat(): Seat | undefined;
}): Approver {
  const { questions, redact } = parts;
  return {
    isThere: () => parts.seat()?.role === "owner",
    async ask(request, signal) {
      const seat = parts.seat();
      if (seat?.role !== "owner") return { answer: "deny", reason: "nobody who may approve is there" };
      const answered = await questions.ask({ seat, question: approvalQuestion(request, redact), signal });
      if (answered === undefined) return { answer: "deny", reason: "nobody answered" };
      const by = `${seat.gateway.name}:${answered.by.id}`;
      const [, reason] = REFUSAL.exec(answered.value) ?? [];
      return reason === undefined
        ? { answer: answered.value as ApprovalAnswer, by }
        : { answer: "deny", by, reason };
    },
  };
}

/** Lets tools ask that person something; what must not be seen is never asked in a chat. */
export function chatAsk(parts: {
  readonly questions: Questions;
  seat(): Seat | undefined;
  signal(): AbortSignal;
}): CallContext["ask"] {
  return async ({ question, choices = [], secret }) => {
    const seat = parts.seat();
    if (seat === undefined || secret === true || !seat.gateway.traits.attended) return undefined;
    const answered = await parts.questions.ask({
      seat,
      question: {
        text: question,
        choices: choices.map((choice) => ({ label: choice, value: choice })),
        howToType:
          choices.length === 0 ? "" : `Answer with one of: ${choices.join(", ")}; or in your own words.`,
        typed: (text) => (text === "" ? undefined : text),
      },
      signal: parts.signal(),
    });
    return answered?.value;
  };
}

function approvalQuestion(request: ApprovalRequest, redact: (text: string) => string): QuestionText {
  const choices = choicesOf(request);
  return {
    id: request.id,
    text: questionText(request, redact),
    choices,
    howToType: `Answer ${choices.map(({ value }) => value).join(", ")}; silence means deny.`,
    typed(text) {
      if (REFUSAL.test(text)) return text;
      const answer = WORDS.get(text.toLowerCase().replace(/^\//, "").replace(/[.!]$/, ""));
      return choices.some(({ value }) => value === answer) ? answer : undefined;
    },
  };
}

function choicesOf({ sessionKeys, remember }: ApprovalRequest): readonly Choice[] {
  return [
    { label: "Once", value: "once" },
    ...(sessionKeys.length > 0 ? [{ label: "Session", value: "session" }] : []),
    ...(sessionKeys.length > 0 && remember.length > 0 ? [{ label: "Always", value: "always" }] : []),
    { label: "Deny", value: "deny" },
  ];
}

/** All of what would run: nobody can say yes to what they have not seen. */
function questionText(request: ApprovalRequest, redact: (text: string) => string): string {
  const { tool, reason, args, environment, session, segments } = request;
  const dangerous = segments.filter(({ verdict }) => verdict !== "safe");
  return redact(
    [
      `⚠️ ${visible(tool)} asks for approval: ${visible(reason)}`,
      ...Object.entries(args).map(([name, value]) => `${name}:\n${fenced(asText(value))}`),
      ...dangerous.map(({ text, reason: why }) => `❗ ${visible(text)}: ${visible(why)}`),
      `in ${visible(session.cwd)} (${visible(environment)})`,
    ].join("\n"),
  );
}

/** The fence is longer than any in the text, so that nothing in it can end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function asText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 1);
  return text.split("\n").map(visible).join("\n");
}
