import { ModelError, type ModelErrorCode } from "../model/model-client.js";
import type { AgentEvent } from "./events.js";

/** What a person can do about it. */
const HINTS: Readonly<Partial<Record<ModelErrorCode, string>>> = {
  unreachable: "Is its server running, and the address right? hermes setup model --check looks.",
  status: "Has this server that model? hermes setup model tests one, hermes chat --model NAME takes another.",
  busy: "Try again later, or name one that stands in: model.fallback.",
  quota: "Fill the account up, or take another model: hermes setup model.",
  refused: "hermes setup model writes another key, and tests it.",
};

/** An error of a turn as its events tell it. */
export function describedError(error: unknown): Omit<Extract<AgentEvent, { type: "error" }>, "type"> {
  if (ModelError.isInstance(error))
    return { code: `model_${error.code}`, message: error.message, hint: HINTS[error.code] };
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}
