import type { IncomingCall } from "../tool/call.js";
import type { Content } from "../tool/content.js";
import { carries } from "../tool/errors.js";
import type { ToolSchema } from "../tool/tool.js";

/** A model that can be asked. */
export interface ModelClient {
  /**
   * The answer in parts, as they come; the last one is `finish`, and there is exactly one of those. Throws a
   * ModelError, or the reason of the request's signal.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** What the model may call; nobody but the caller runs it. */
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** The model stops before it would write one of these. */
  readonly stop?: readonly string[] | undefined;
  /** The answer is to be one JSON object, where the server knows how to ask for that. */
  readonly json?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  /** Text and images; other parts are named, not sent. */
  | { readonly role: "user"; readonly content: string | readonly Content[] }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls?: readonly IncomingCall[] | undefined;
    }
  | { readonly role: "tool"; readonly toolCallId: string; readonly content: string };

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  /** Whole: its arguments are JSON text that nobody has looked at. */
  | { readonly type: "tool_call"; readonly call: IncomingCall }
  | ModelFinish;

export interface ModelFinish {
  readonly type: "finish";
  /** "length": it was cut off; "refusal": it or its server would not answer; "other": what we have no word for. */
  readonly reason: "stop" | "length" | "tool_calls" | "refusal" | "other";
  /** As the server names it. */
  readonly model?: string | undefined;
  readonly usage?: ModelUsage | undefined;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** How many of the input tokens the server still knew. */
  readonly cachedTokens?: number | undefined;
}

/** A whole answer. */
export interface ModelAnswer extends Omit<ModelFinish, "type"> {
  readonly text: string;
  readonly toolCalls: readonly IncomingCall[];
}

/** Asks and waits for the whole answer. */
export async function complete(client: ModelClient, request: ModelRequest): Promise<ModelAnswer> {
  let text = "";
  const toolCalls: IncomingCall[] = [];
  for await (const part of client.stream(request)) {
    if (part.type === "text") text += part.text;
    else if (part.type === "tool_call") toolCalls.push(part.call);
    else return { text, toolCalls, reason: part.reason, model: part.model, usage: part.usage };
  }
  throw new ModelError("bad_answer", "the model's answer broke off");
}

const modelErrorMark = Symbol.for("hermes-tools.ModelError");

/** Why there is no answer, told without the key and without the server's words. */
export class ModelError extends Error {
  readonly [modelErrorMark] = true;
  override readonly name = "ModelError";
  readonly code: "unreachable" | "status" | "too_large" | "bad_answer";
  /** What the server answered with, when that was no answer of the model. */
  readonly status: number | undefined;

  constructor(code: ModelError["code"], message: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }

  static isInstance(value: unknown): value is ModelError {
    return carries(value, modelErrorMark);
  }
}
