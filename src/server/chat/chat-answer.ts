import { randomUUID } from "node:crypto";
import type { AgentEvent, AgentResult, AgentUsage } from "../../agent/events.js";
import type { Problem } from "../problem.js";
import { MODEL_ID } from "./chat-request.js";

type FinishReason = "stop" | "length";

/** Id and time of one answer, the same in each of its chunks. */
export class ChatAnswer {
  readonly #id = `chatcmpl-${randomUUID()}`;
  readonly #created = Math.floor(Date.now() / 1000);
  /** Whether text was sent at all: what comes after a call is a paragraph of its own. */
  #said = false;
  #mustPart = false;
  /** Whether text was sent since the last call. */
  #isAnswered = false;

  whole(result: AgentResult): Readonly<Record<string, unknown>> {
    const message = { role: "assistant", content: result.text, refusal: null };
    return {
      ...this.#head("chat.completion"),
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(result) }],
      usage: usageOf(result.usage),
      hermes: aboutTurn(result),
    };
  }

  begun(): Readonly<Record<string, unknown>> {
    return this.#chunk({ role: "assistant", content: "" });
  }

  /** What a stream says of an event; undefined for those that are nothing to a client. */
  during(event: AgentEvent): Readonly<Record<string, unknown>> | undefined {
    switch (event.type) {
      case "text":
        return this.#saying(event.delta);
      case "tool_use":
        this.#mustPart = this.#said;
        this.#isAnswered = false;
        return {
          ...this.#chunk({}),
          hermes: { event: { type: event.type, id: event.id, name: event.name } },
        };
      case "tool_result": {
        const { type, id, name, ok, duration_ms } = event;
        return { ...this.#chunk({}), hermes: { event: { type, id, name, ok, duration_ms } } };
      }
      case "approval":
      case "notice":
        return { ...this.#chunk({}), hermes: { event } };
      default:
        return undefined;
    }
  }

  /** An answer that did not come as text (a model that only thought): what stands for it. */
  unsaid({ text }: AgentResult): Readonly<Record<string, unknown>> | undefined {
    return this.#isAnswered || text === "" ? undefined : this.#saying(text);
  }

  ended(result: AgentResult): Readonly<Record<string, unknown>> {
    return { ...this.#chunk({}, finishReason(result)), hermes: aboutTurn(result) };
  }

  usage(result: AgentResult): Readonly<Record<string, unknown>> {
    return { ...this.#head("chat.completion.chunk"), choices: [], usage: usageOf(result.usage) };
  }

  #saying(text: string): Readonly<Record<string, unknown>> {
    const content = this.#mustPart ? `\n\n${text}` : text;
    this.#mustPart = false;
    this.#said = true;
    this.#isAnswered = true;
    return this.#chunk({ content });
  }

  #chunk(delta: object, finish: FinishReason | null = null): Readonly<Record<string, unknown>> {
    return {
      ...this.#head("chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    };
  }

  #head(object: string): Readonly<Record<string, unknown>> {
    return { id: this.#id, object, created: this.#created, model: MODEL_ID };
  }
}

function finishReason({ stop }: AgentResult): FinishReason {
  return stop === "max_turns" || stop === "budget" ? "length" : "stop";
}

function aboutTurn({ type: _, text: __, usage, ...about }: AgentResult): Readonly<Record<string, unknown>> {
  return { ...about, requests: usage.requests };
}

function usageOf(usage: AgentUsage): Readonly<Record<string, unknown>> {
  const { input_tokens, output_tokens, cached_tokens } = usage;
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
    prompt_tokens_details: { cached_tokens },
  };
}

/**
 * Why a turn gave no answer. Clients send a request again by themselves when a server fails; this one may have run
 * tools, so they are told not to.
 */
export function problemOfTurn({ code, message, hint }: Extract<AgentEvent, { type: "error" }>): Problem {
  if (code === "busy") return { status: 409, code: "conflict", message, hint };
  return {
    status: code === "internal" ? 500 : 503,
    code: code === "internal" ? "internal" : "unavailable",
    message: code === "internal" ? "The agent failed." : message,
    hint: hint ?? "The conversation is kept: send the next message with its X-Hermes-Session to go on.",
    headers: { "x-should-retry": "false" },
  };
}
