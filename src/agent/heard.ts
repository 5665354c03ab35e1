import { framedSources } from "../call/untrusted.js";
import { textOf } from "../tool/content.js";
import type { NewMessage } from "./sessions/types.js";

/**
 * Who outside wrote words that the model was given in this conversation. A session that is opened anew would not know:
 * what a page asked for yesterday would be taken for the person's own wish today.
 */
export function heardIn(messages: readonly NewMessage[]): readonly string[] {
  const heard = new Set<string>();
  for (const { role, content } of messages) {
    // A model may write such a frame itself; that it did is no sign of an outsider.
    if (role === "assistant" || role === "system") continue;
    for (const source of framedSources(typeof content === "string" ? content : textOf(content)))
      heard.add(source);
  }
  return [...heard];
}
