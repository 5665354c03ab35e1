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

export type Emit = (event: AgentEvent) => void;

export interface Answer {
  readonly text: string;
  readonly calls: readonly IncomingCall[];
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
    const said = { text: "" };
    try {
      return await readAnswer(model.stream(request), said, emit);
    } catch (error) {
      if (signal.aborted) return { text: said.text, calls: [] };
      if (!isWorthAnotherTry(error) || attempt === ATTEMPTS) throw error;
      emit({ type: "notice", message: `The answer broke off (${error.message}); asked again.` });
    }
  }
}

async function readAnswer(
  parts: ReturnType<ModelClient["stream"]>,
  said: { text: string },
  emit: Emit,
): Promise<Answer> {
  const calls: IncomingCall[] = [];
  for await (const part of parts) {
    if (part.type === "text") {
      said.text += part.text;
      emit({ type: "text", delta: part.text });
    } else if (part.type === "reasoning") emit({ type: "reasoning", delta: part.text });
    else if (part.type === "tool_call_begun") emit({ type: "tool_begun", id: part.id, name: part.name });
    else if (part.type === "tool_call") calls.push(part.call);
    else return { text: said.text, calls, finish: part };
  }
  throw new ModelError("broken_off", "the model's answer broke off");
}

function isWorthAnotherTry(error: unknown): error is ModelError {
  return ModelError.isInstance(error) && (error.code === "broken_off" || error.code === "bad_answer");
}
