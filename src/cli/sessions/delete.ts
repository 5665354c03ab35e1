import type { CommandContext } from "../context.js";
import { withConversation } from "./open.js";

export function deleteSession(context: CommandContext): Promise<void> {
  return withConversation(context, async (store, { id }) => {
    await store.delete(id);
    context.out.result({ deleted: true, id }, `Deleted ${id}.`);
  });
}
