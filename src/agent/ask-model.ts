import { pause } from "../base/deadline.js";
import {
  type ModelClient,
  ModelError,
  type ModelFinish,
  type ModelMessage,
  type ModelRequest,
} from "../model/model-client.js";
import type { IncomingCall } from "../tool/call.js";
import type { ToolSchema } from "../tool/tool.js";
import type { AgentEvent } from "./events.js";

/** A stream that breaks is asked for again this often; what it had half said is thrown away. */
const ATTEMPTS = 3;
const BUSY_MS = 1_000;

export type Emit = (event: AgentEvent) => void;

export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly IncomingCall[];
  /** How many calls it began to write. */
  readonly begun: number;
  /** Missing when somebody stopped it: the text is as far as it came, and there are no calls. */
  readonly finish?: ModelFinish | undefined;
}

/** One request, its text handed on as it comes. Calls are in the answer only when the answer came to its end. */
export async function askModel(options: {
  readonly model: ModelClient;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSchema[];
  readonly signal: AbortSignal;
  readonly emit: Emit;
}): Promise<Answer> {
  const { model, signal, emit, tools, messages } = options;
  const request: ModelRequest = {
    messages,
    tools: tools.length === 0 ? undefined : tools,
    purpose: "turn",
    signal,
  };
  for (let attempt = 1; ; attempt += 1) {
    const said: Said = { text: "", reasoning: "", begun: 0 };
    try {
      return await readAnswer(model.stream(request), said, emit);
    } catch (error) {
      if (signal.aborted) return { ...said, calls: [] };
      if (!isWorthAnotherTry(error, said) || attempt === ATTEMPTS) throw error;
      emit({ type: "notice", message: `The answer broke off (${error.message}); asked again.` });
      if (error.code === "busy") await pause(error.retryAfterMs ?? BUSY_MS * attempt, signal);
    }
  }
}

interface Said {
  text: string;
  reasoning: string;
  begun: number;
}

async function readAnswer(parts: ReturnType<ModelClient["stream"]>, said: Said, emit: Emit): Promise<Answer> {
  const calls: IncomingCall[] = [];
  for await (const part of parts) {
    if (part.type === "text") {
      said.text += part.text;
      emit({ type: "text", delta: part.text });
    } else if (part.type === "reasoning") {
      said.reasoning += part.text;
      emit({ type: "reasoning", delta: part.text });
    } else if (part.type === "tool_call_begun") {
      said.begun += 1;
      emit({ type: "tool_begun", id: part.id, name: part.name });
    } else if (part.type === "tool_call") calls.push(part.call);
    else return { ...said, calls, finish: part };
  }
  throw new ModelError("broken_off", "the model's answer broke off");
}

/**
 * What failed before its first word, the client has tried again already, as often as is sensible; what fails in the
 * middle is begun anew here, because its words have been shown.
 */
function isWorthAnotherTry(error: unknown, { text, reasoning, begun }: Said): error is ModelError {
  if (!ModelError.isInstance(error)) return false;
  if (error.code === "bad_answer") return true;
  const hasBegun = text !== "" || reasoning !== "" || begun > 0;
  return hasBegun && (error.code === "broken_off" || error.code === "busy");
}
