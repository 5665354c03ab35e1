import type { Answer } from "./ask-model.js";
import type { StopReason } from "./events.js";

/**
 * What a model only thought and then stopped is what it has to say: asking again would be paid for again. What its server
 * signed of it does not go back: it is no answer there.
 */
export function spoken(answer: Answer): Answer {
  const { text, calls, reasoning, finish } = answer;
  if (text !== "" || calls.length > 0 || reasoning === "" || finish?.reason !== "stop") return answer;
  return { ...answer, text: reasoning, finish: { ...finish, opaque: undefined } };
}

/** Why an answer without calls is no end yet: what people are told the first time and the second, and what the model is. */
interface Trouble {
  readonly once: string;
  readonly again: string;
  readonly stop: StopReason;
  readonly tellModel?: string | undefined;
}

export function troubleOf({ text, begun, finish }: Answer): Trouble | undefined {
  if (finish?.reason === "length" && begun > 0)
    return {
      once: "The answer was cut off in the middle of a call; nothing of it was run. The model is asked to write in parts.",
      again: "The answer was cut off in the middle of a call once more; the turn ends here.",
      stop: "error",
      tellModel:
        "[Your answer was cut off in the middle of a call: it reached the longest you can write. Nothing of it was run. " +
        "Write in parts: less per call, the rest in further calls.]",
    };
  if (text !== "" || finish?.reason === "refusal") return undefined;
  return {
    once: "The model said nothing; asked once more.",
    again: "The model said nothing again; the turn ends here.",
    stop: "end",
  };
}
