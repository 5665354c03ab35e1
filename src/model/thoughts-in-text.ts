import type { ModelPart } from "./model-client.js";

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Servers without a parser for it pass on what a model thinks as the beginning of its text, between `<think>` and
 * `</think>`. Only there: later in the text, the words are the model's own.
 */
export async function* thoughtsApart(parts: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart> {
  let state: "before" | "inside" | "after" = "before";
  /** Not told yet: it may be half of a mark. */
  let held = "";
  for await (const part of parts) {
    if (part.type !== "text" || state === "after") {
      if (part.type !== "reasoning" && held !== "") {
        yield { type: state === "inside" ? "reasoning" : "text", text: held };
        held = "";
        state = "after";
      }
      yield part;
      continue;
    }
    held += part.text;
    if (state === "before") {
      const start = held.trimStart();
      if (OPEN.startsWith(start) && start.length < OPEN.length) continue;
      state = start.startsWith(OPEN) ? "inside" : "after";
      if (state === "inside") held = start.slice(OPEN.length);
    }
    if (state === "inside") {
      const end = held.indexOf(CLOSE);
      const sure = end === -1 ? held.length - halfMark(held) : end;
      const thought = held.slice(0, sure);
      if (thought !== "") yield { type: "reasoning", text: thought };
      held = end === -1 ? held.slice(sure) : held.slice(end + CLOSE.length).trimStart();
      if (end === -1) continue;
      state = "after";
    }
    if (held !== "") yield { type: "text", text: held };
    held = "";
  }
}

/** How many characters at the end may be the beginning of the closing mark. */
function halfMark(text: string): number {
  for (let length = Math.min(text.length, CLOSE.length - 1); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
