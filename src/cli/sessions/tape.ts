import { tapeOfSession } from "../../replay/record-tape.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CommandContext } from "../context.js";
import { newestIfLast, withConversations } from "./open.js";

/** The lines of a tape: of the conversation of this name, else of the session of the journal. */
export async function tapeOf(
  context: CommandContext,
  { runtime, id }: { readonly runtime: Runtime; readonly id: string },
): Promise<readonly string[] | undefined> {
  const said = await withConversations(context, async (store) =>
    collected(await tapeOfSession({ runtime, store, id: (await newestIfLast(store, id)) ?? id })),
  );
  return said ?? collected(await tapeOfSession({ runtime, store: undefined, id }));
}

async function collected(lines: AsyncIterable<string> | undefined): Promise<readonly string[] | undefined> {
  if (lines === undefined) return undefined;
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}
