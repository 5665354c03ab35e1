import { publicConversation } from "../../agent/sessions/public.js";
import { visible } from "../../base/visible-text.js";
import type { CommandContext } from "../context.js";
import { positiveInteger } from "../input.js";
import { brief } from "../output.js";
import { withConversations } from "./open.js";

export async function list(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const limit = positiveInteger(options.limit, "--limit");
  const source = typeof options.source === "string" ? { source: options.source } : {};
  const children = options.all === true;
  const rows = await withConversations(context, (store) => store.list({ limit, children, ...source }));
  out.list({
    rows: rows ?? [],
    asJson: publicConversation,
    head: ["id", "last used", "source", "messages", "state", "title"],
    cells: ({ id, updatedAt, source: door, messages, state, title }) => [
      id,
      new Date(updatedAt).toLocaleString("sv-SE"),
      door,
      String(messages),
      state === "idle" ? state : out.color.yellow(state),
      brief(visible(title), 80),
    ],
    empty: "There are no conversations yet.",
  });
}
