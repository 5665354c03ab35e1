import { visible } from "../../base/visible-text.js";
import type { CommandContext } from "../context.js";
import { positiveInteger } from "../input.js";
import { withConversations } from "./open.js";

export async function search(context: CommandContext): Promise<void> {
  const { out, options, args } = context;
  const limit = positiveInteger(options.limit, "--limit");
  const roles = ROLES.filter((role) => role === options.role);
  const found = await withConversations(context, (store) =>
    store.search({ words: args.join(" "), limit, roles: roles.length === 0 ? undefined : roles }),
  );
  out.list({
    rows: found ?? [],
    asJson: ({ session, message, role, snippet, at }) => ({
      session,
      message,
      role,
      snippet,
      at: new Date(at).toISOString(),
    }),
    head: ["session", "message", "role", "passage"],
    cells: ({ session, message, role, snippet }) => [session, message, role, visible(snippet)],
    empty: "No message holds these words.",
  });
}

const ROLES = ["user", "assistant", "tool"] as const;
