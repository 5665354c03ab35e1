import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { MessageRole, SessionMessage, SessionsHost } from "../../tool/host-capabilities.js";
import { mark } from "../../tool/marked-text.js";

const ROLES: readonly MessageRole[] = ["user", "assistant", "tool"];
const HEAD = 20;
const TAIL = 10;

export default defineTool({
  name: "session_search",
  toolset: "session_search",
  emoji: "🕰️",
  description:
    "Recall earlier conversations. query: passages that hold these words, best first, in any language. session_id " +
    "with around_message_id: the messages around a passage; session_id alone: its beginning and end. Nothing: the " +
    "newest conversations. The current conversation is left out.",
  parameters: {
    type: "object",
    properties: {
      query: {
        type: "string",
        maxLength: 2_000,
        description: "Words as they were used; rare ones tell most.",
      },
      limit: { type: "integer", minimum: 1, maximum: 10, default: 3, description: "Conversations." },
      role_filter: {
        type: "array",
        items: { type: "string", enum: ["user", "assistant", "tool"] },
        description: "Who said it.",
      },
      sort: { type: "string", enum: ["relevance", "newest", "oldest"], default: "relevance" },
      detail: {
        type: "string",
        enum: ["snippet", "context"],
        default: "snippet",
        description: "context: with the messages around each passage.",
      },
      session_id: { type: "string" },
      around_message_id: { type: "string", description: "Of a result; needs session_id." },
      window: {
        type: "integer",
        minimum: 1,
        maximum: 20,
        default: 5,
        description: "Messages on each side.",
      },
    },
    additionalProperties: false,
  },
  examples: [
    {
      title: "Find what was said about a topic",
      arguments: { query: "database migration" },
      result: { results: [{ title: "Moving to PostgreSQL", role: "user" }] },
    },
  ],
  permissions: [],
  effects: () => [],
  host: "sessions",
  idempotent: true,
  // Tools gave pages of others, strangers wrote messages, and models repeated both.
  untrustedSource: (_args, { results }: SessionSearchResult) =>
    results.length > 0 ? "an earlier conversation" : undefined,

  async handler(args, ctx): Promise<SessionSearchResult> {
    const sessions = ctx.host.sessions;
    if (sessions === undefined) {
      throw new ToolError("session_search needs an agent loop that keeps conversations.", {
        code: "unavailable",
      });
    }
    const { session_id: session, around_message_id: around, window } = args;
    if (session !== undefined) return { results: [await oneSession(sessions, { session, around, window })] };
    if (around !== undefined) {
      throw new ToolError("around_message_id needs the session_id it was found with.", {
        code: "invalid_arguments",
      });
    }
    const found = await sessions.search({
      words: args.query,
      roles: rolesOf(args.role_filter),
      limit: args.limit,
    });
    const results = sorted(found, args.sort).map(async (message): Promise<FoundSession> => {
      const context = args.detail === "context" ? await contextOf(sessions, message, window) : undefined;
      return { ...foundSession(message), ...(context !== undefined && { messages: context }) };
    });
    return { results: await Promise.all(results) };
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: out.results.length === 0 ? "Nothing found." : out.results.flatMap(linesOf).join("\n"),
  }),
});

function linesOf({
  session_id: session,
  title,
  at,
  snippet,
  messages = [],
}: FoundSession): readonly string[] {
  return [
    `${mark.strong(title)} ${mark.dim([session, at].filter(Boolean).join(" · "))}`,
    ...(snippet === undefined ? [] : [`  ${snippet}`]),
    ...messages.map(({ role, content }) => `  ${mark.dim(`${role}:`)} ${content}`),
  ];
}

interface ToldMessage {
  readonly message_id: string;
  readonly role: MessageRole;
  readonly content: string;
  readonly at: string;
}

export interface FoundSession {
  readonly session_id: string;
  readonly title: string;
  readonly message_id?: string;
  readonly role?: MessageRole;
  readonly at?: string;
  readonly snippet?: string;
  readonly messages?: readonly ToldMessage[];
}

export interface SessionSearchResult {
  readonly results: readonly FoundSession[];
}

function foundSession({ session, title, message, role, content, at }: SessionMessage): FoundSession {
  return {
    session_id: session,
    title,
    message_id: message,
    role,
    at: new Date(at).toISOString(),
    snippet: content,
  };
}

async function oneSession(
  sessions: SessionsHost,
  {
    session,
    around,
    window,
  }: { readonly session: string; readonly around: string | undefined; readonly window: number },
): Promise<FoundSession> {
  const messages =
    around === undefined
      ? await headAndTail(sessions, session)
      : await sessions.read({ session, around, limit: window });
  const [first] = messages;
  if (first === undefined) {
    throw new ToolError(
      `There is no earlier conversation ${session}${around === undefined ? "" : ` with a message ${around}`}.`,
      {
        code: "not_found",
        hint: "Take session_id and message_id from a result of session_search.",
      },
    );
  }
  return { session_id: session, title: first.title, messages: messages.map(told) };
}

async function headAndTail(sessions: SessionsHost, session: string): Promise<readonly SessionMessage[]> {
  const head = await sessions.read({ session, limit: HEAD });
  const tail = await sessions.read({ session, limit: TAIL, fromEnd: true });
  const known = new Set(head.map(({ message }) => message));
  return [...head, ...tail.filter(({ message }) => !known.has(message))];
}

async function contextOf(
  sessions: SessionsHost,
  { session, message }: SessionMessage,
  window: number,
): Promise<readonly ToldMessage[]> {
  return (await sessions.read({ session, around: message, limit: window })).map(told);
}

function told({ message, role, content, at }: SessionMessage): ToldMessage {
  return { message_id: message, role, content, at: new Date(at).toISOString() };
}

function rolesOf(filter: readonly string[] | undefined): readonly MessageRole[] | undefined {
  const roles = ROLES.filter((role) => filter?.includes(role));
  return roles.length === 0 ? undefined : roles;
}

function sorted(found: readonly SessionMessage[], sort: string): readonly SessionMessage[] {
  if (sort === "relevance") return found;
  const direction = sort === "newest" ? -1 : 1;
  return [...found].sort((one, other) => direction * (one.at - other.at));
}
