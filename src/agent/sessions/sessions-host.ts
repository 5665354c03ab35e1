import { textOf } from "../../tool/content.js";
import type { MessageRole, SessionMessage, SessionsHost } from "../../tool/host-capabilities.js";
import type { SqliteConversationStore } from "./conversation-store.js";
import type { Conversation, StoredMessage } from "./types.js";

/** Doors behind which nobody sits: their conversations belong to another one, or to nobody. */
const HIDDEN_SOURCES: readonly string[] = ["subagent", "tool"];

const ROLES: readonly MessageRole[] = ["user", "assistant", "tool"];

/** Of a message that is longer, only the beginning: whoever reads earlier conversations reads many. */
const MESSAGE_CHARS = 4_000;

/** The earlier conversations of one owner, as one of them sees them: itself and its kin are left out. */
export function earlierConversations(parts: {
  readonly store: SqliteConversationStore;
  readonly current: string;
  readonly owner: string;
}): SessionsHost {
  const { store, current, owner } = parts;
  const currentRoot = store.queries.rootOf(current);

  /** A conversation that handed work on speaks for those it handed it to. */
  const headOf = async (session: string): Promise<Conversation | undefined> => {
    const root = store.queries.rootOf(session);
    if (root === undefined || root === currentRoot) return undefined;
    const head = await store.get(root, { owner });
    return head === undefined || HIDDEN_SOURCES.includes(head.source) ? undefined : head;
  };

  const newest = async (limit: number): Promise<readonly SessionMessage[]> => {
    const recent = (await store.list({ owner, limit: limit + MOST_HIDDEN })).filter(
      ({ id, source }) => id !== currentRoot && !HIDDEN_SOURCES.includes(source),
    );
    const shown = recent.slice(0, limit).map(async (conversation): Promise<readonly SessionMessage[]> => {
      const [last] = readable(await store.messages(conversation.id, { last: 6 }), conversation).slice(-1);
      return last === undefined ? [] : [last];
    });
    return (await Promise.all(shown)).flat();
  };

  return {
    async search({ words, roles, limit }) {
      if (words === undefined || words.trim() === "") return newest(limit);
      const found = await store.search({
        words,
        roles: roles ?? ROLES,
        owner,
        except: current,
        limit: limit + MOST_HIDDEN,
        onePerFamily: true,
      });
      const told: SessionMessage[] = [];
      for (const { session, message, role, snippet, at } of found) {
        const head = await headOf(session);
        if (head === undefined || !isRole(role)) continue;
        told.push({ session: head.id, title: head.title, message, role, content: snippet, at });
      }
      return told.slice(0, limit);
    },

    async read({ session, around, fromEnd = false, limit }) {
      const head = await headOf(session);
      if (head === undefined) return [];
      if (around === undefined) {
        const messages = fromEnd
          ? await store.messages(session, { last: limit })
          : await store.page(session, { limit });
        return readable(messages, head);
      }
      // A passage that was found may stand in a conversation of the same family.
      const home = store.queries.sessionOf(around);
      if (home === undefined || store.queries.rootOf(home) !== head.id) return [];
      const earlier = await store.before(home, { message: around, limit });
      const later = await store.page(home, { after: String(Number(around) - 1), limit: limit + 1 });
      return readable([...earlier, ...later], head);
    },
  };
}

/** So many hidden conversations may stand before the ones that are told. */
const MOST_HIDDEN = 20;

function readable(
  messages: readonly StoredMessage[],
  { id, title }: Conversation,
): readonly SessionMessage[] {
  return messages.flatMap(({ id: message, role, content, toolCalls = [], at }) => {
    if (!isRole(role)) return [];
    const called = toolCalls.map(({ name }) => `[called ${name}]`);
    const said = [typeof content === "string" ? content : textOf(content), ...called]
      .filter(Boolean)
      .join("\n");
    return { session: id, title, message, role, content: cut(said), at };
  });
}

function cut(text: string): string {
  if (text.length <= MESSAGE_CHARS) return text;
  return `${text.slice(0, MESSAGE_CHARS).replace(/[\ud800-\udbff]$/, "")} [cut]`;
}

function isRole(role: StoredMessage["role"]): role is MessageRole {
  return ROLES.some((one) => one === role);
}
