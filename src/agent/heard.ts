import { framedSources, mayReadOthers } from "../call/untrusted.js";
import type { Session } from "../runtime/session.js";
import { textOf } from "../tool/content.js";
import { notesIn } from "./prompt.js";
import type { NewMessage } from "./sessions/types.js";

/**
 * Who outside wrote words that the model was given in this conversation. A session that is opened anew would not know:
 * what a page asked for yesterday would be taken for the person's own wish today.
 */
export function heardIn(messages: readonly NewMessage[], session: Session): readonly string[] {
  const { view, scope } = session;
  const heard = new Set<string>();
  for (const { role, content, name = "" } of messages) {
    const text = typeof content === "string" ? content : textOf(content);
    // A model may write such a frame itself; that it did is no sign of an outsider.
    if (role === "assistant") continue;
    if (role === "system") {
      for (const path of notesIn(text)) if (scope.services.trusts?.(path) !== true) heard.add(path);
      continue;
    }
    const found = role === "tool" ? view.find(name) : undefined;
    if (found !== undefined && !("code" in found))
      for (const source of mayReadOthers(found.entry.permissions)) heard.add(source);
    for (const source of framedSources(text)) heard.add(source);
  }
  return [...heard];
}

/** Servers that describe their tools to the model, in words of their own. */
export function describers({ view }: Session): readonly string[] {
  const servers = new Set<string>();
  for (const { provenance, toolset } of view.entries.values())
    if (provenance.kind === "mcp") servers.add(`mcp:${provenance.source ?? toolset}`);
  return [...servers];
}
