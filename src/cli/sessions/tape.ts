import { eachMessage } from "../../agent/sessions/public.js";
import { tapeOfConversation, tapeOfJournal } from "../../replay/record-tape.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CommandContext } from "../context.js";
import { withConversations } from "./open.js";

/** The lines of a tape: of the conversation of this name, else of the session of the journal. */
export async function tapeOf(
  context: CommandContext,
  { runtime, id }: { readonly runtime: Runtime; readonly id: string },
): Promise<readonly string[] | undefined> {
  const said = await withConversations(context, async (store) => {
    const conversation = await store.get(id);
    if (conversation === undefined) return undefined;
    return collected(tapeOfConversation({ runtime, conversation, messages: eachMessage(store, id) }));
  });
  if (said !== undefined) return said;
  const lines = await tapeOfJournal(runtime, id);
  return lines && collected(lines);
}

async function collected(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}
