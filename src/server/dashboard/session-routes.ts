import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import { publicConversation, publicMessage } from "../../agent/sessions/public.js";
import type { Conversation, OwnedBy, StoredMessage } from "../../agent/sessions/types.js";
import type { Content } from "../../tool/content.js";
import { failure, HermesError } from "../../tool/errors.js";
import type { SessionAnswer, SessionLine, SessionsAnswer } from "../dashboard-types.js";
import { isProblem, maskedResponse, notFound, type Problem, problemResponse } from "../problem.js";
import { numberFrom } from "../query.js";
import type { Route, RouteContext, ServerServices } from "../route.js";

const MAX_WORDS_CHARS = 500;
/** A page ends early when its messages are long. */
const PAGE_CHARS = 2 * 1024 * 1024;
const TEXT_CHARS = 64 * 1024;
const PICTURE_CHARS = 512 * 1024;

export const ID_PARAMETER = {
  in: "path",
  required: true,
  name: "id",
  description: "Of the conversation.",
  schema: { type: "string" },
} as const;

/** The owner of this machine sees every conversation, another token those it has begun itself. */
export function scopeOf(context: RouteContext, auth: ServerServices["auth"]): OwnedBy {
  const { headers } = context.env.incoming;
  return auth.principalOf(headers) === "owner" ? {} : { owner: auth.ownerOf(headers) };
}

export interface Found {
  readonly store: SqliteConversationStore;
  readonly conversation: Conversation;
}

export async function conversationOf(
  context: RouteContext,
  { auth, conversations }: ServerServices,
): Promise<Found | Problem> {
  const id = context.req.param("id") ?? "";
  const store = await conversations();
  const conversation = await store?.get(id, scopeOf(context, auth));
  if (store !== undefined && conversation !== undefined) return { store, conversation };
  return notFound(`There is no conversation ${id.slice(0, 80)}.`, "GET /v1/sessions lists them.");
}

export const sessionsRoute: Route = {
  method: "GET",
  path: "/v1/sessions",
  summary:
    "Conversations, the one that was used last first; with `q` those that hold these words, and the passages. A token " +
    "for calls sees its own.",
  query: [
    {
      name: "limit",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    },
    { name: "before", description: "`next_before` of the page before.", schema: { type: "string" } },
    { name: "q", description: "What a person types to find something.", schema: { type: "string" } },
    {
      name: "children",
      description: "1 lists those too that another one handed work to.",
      schema: { enum: ["1"] },
    },
  ],
  answer: {
    description: "`next_before` leads to the next page.",
    type: "application/json",
    schema: { type: "object", required: ["sessions"] },
  },

  async handle(context, services) {
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 50, min: 1, max: 200 }));
    const store = await services.conversations();
    const { redact } = services.runtime;
    if (store === undefined) return maskedResponse({ sessions: [] } satisfies SessionsAnswer, redact);
    const words = (context.req.query("q") ?? "").trim();
    const scope = scopeOf(context, services.auth);
    const answer =
      words === ""
        ? await listed(context, { store, scope, limit })
        : await searched(store, { words, scope, limit });
    return maskedResponse(answer, redact);
  },
};

async function listed(
  context: RouteContext,
  { store, scope, limit }: { store: SqliteConversationStore; scope: OwnedBy; limit: number },
): Promise<SessionsAnswer> {
  const found = await store.list({
    ...scope,
    limit,
    children: context.req.query("children") === "1",
    before: cursorFrom(context.req.query("before")),
  });
  const last = found.length === limit ? found.at(-1) : undefined;
  return {
    sessions: await Promise.all(found.map((each) => lineOf(store, each))),
    ...(last !== undefined && { next_before: `${last.updatedAt}.${last.id}` }),
  };
}

async function searched(
  store: SqliteConversationStore,
  { words, scope, limit }: { readonly words: string; readonly scope: OwnedBy; readonly limit: number },
): Promise<SessionsAnswer> {
  const found = await store.search({ ...scope, words: words.slice(0, MAX_WORDS_CHARS), limit });
  const ids = [...new Set(found.map(({ session }) => session))];
  const conversations = await Promise.all(ids.map((id) => store.get(id, scope)));
  return {
    sessions: await Promise.all(
      conversations.flatMap((each) => (each === undefined ? [] : lineOf(store, each))),
    ),
    found: found.map(({ session, message, role, snippet, at }) => ({
      session,
      message,
      role,
      snippet,
      at: new Date(at).toISOString(),
    })),
  };
}

async function lineOf(store: SqliteConversationStore, conversation: Conversation): Promise<SessionLine> {
  const spent = await store.spent({ session: conversation.id });
  return { ...publicConversation(conversation), ...(spent > 0 && { cost_usd: spent }) };
}

function cursorFrom(text: string | undefined): Pick<Conversation, "id" | "updatedAt"> | undefined {
  if (text === undefined) return undefined;
  const [, at, id] = /^(\d{1,15})\.([\w-]{1,128})$/.exec(text) ?? [];
  if (at !== undefined && id !== undefined) return { id, updatedAt: Number(at) };
  throw new HermesError(
    failure(
      "bad_request",
      "?before= must be next_before of the page before",
      "Leave it out for the first page.",
    ),
  );
}

export const sessionRoute: Route = {
  method: "GET",
  path: "/v1/sessions/:id",
  summary: "One conversation and its messages, as `hermes sessions show --json`, page by page.",
  query: [
    ID_PARAMETER,
    {
      name: "after",
      description: "Only messages after this one.",
      schema: { type: "string", pattern: "^\\d+$" },
    },
    {
      name: "limit",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 500, default: 100 },
    },
    { name: "last", description: "1 gives the last ones instead of the first.", schema: { enum: ["1"] } },
  ],
  answer: {
    description: "`next_after` leads to the next page. Long texts and pictures are cut.",
    type: "application/json",
    schema: { type: "object", required: ["id", "messages", "total"] },
  },
  problems: ["NotFound"],

  async handle(context, services) {
    const found = await conversationOf(context, services);
    if (isProblem(found)) return problemResponse(found);
    const { store, conversation } = found;
    const limit = Math.trunc(numberFrom(context, { name: "limit", fallback: 100, min: 1, max: 500 }));
    const after = context.req.query("after");
    if (after !== undefined && !/^\d{1,15}$/.test(after))
      throw new HermesError(failure("bad_request", "?after= must be the id of a message"));
    const isTail = context.req.query("last") === "1";
    const messages = isTail
      ? await store.messages(conversation.id, { last: limit })
      : await store.page(conversation.id, { after, limit });
    const short = messages.map(shortened);
    // Of the last ones, those at the end are wanted most.
    const shown = isTail ? fitting(short.reverse()).toReversed() : fitting(short);
    const rest = isTail || (shown.length === messages.length && messages.length < limit);
    const { messages: total, ...line } = await lineOf(store, conversation);
    const answer: SessionAnswer = {
      ...line,
      total,
      messages: shown.map(publicMessage),
      ...(!rest && { next_after: shown.at(-1)?.id }),
    };
    return maskedResponse(answer, services.runtime.redact);
  },
};

/** As many as fit into one answer, at least one. */
function fitting(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  let chars = 0;
  const end = messages.findIndex((message) => {
    chars += JSON.stringify(message).length;
    return chars > PAGE_CHARS;
  });
  return end < 0 ? messages : messages.slice(0, Math.max(1, end));
}

function shortened(message: StoredMessage): StoredMessage {
  const { content } = message;
  return { ...message, content: typeof content === "string" ? cut(content) : content.map(shortPart) };
}

function shortPart(part: Content): Content {
  if (part.type === "text") return { ...part, text: cut(part.text) };
  if (part.type === "resource") return part.text === undefined ? part : { ...part, text: cut(part.text) };
  if (part.data.length <= PICTURE_CHARS) return part;
  return { type: "text", text: `[${part.type} ${part.mimeType}, too large to be shown here]` };
}

function cut(text: string): string {
  if (text.length <= TEXT_CHARS) return text;
  return `${text.slice(0, TEXT_CHARS)}\n… ${text.length - TEXT_CHARS} more characters`;
}

export const sessionDeleteRoute: Route = {
  method: "DELETE",
  path: "/v1/sessions/:id",
  approves: true,
  summary: "Deletes a conversation with those it handed work to. One that is being worked on stays.",
  query: [ID_PARAMETER],
  answer: {
    description: "It is gone from the disk.",
    type: "application/json",
    schema: { type: "object", required: ["deleted", "id"] },
  },
  problems: ["NotFound", "Conflict"],

  async handle(context, services) {
    const found = await conversationOf(context, services);
    if (isProblem(found)) return problemResponse(found);
    const { id, state } = found.conversation;
    if (state === "running")
      return problemResponse({
        status: 409,
        code: "conflict",
        message: `${id} is being worked on.`,
        hint: "Stop it first, then delete it.",
      });
    await found.store.delete(id);
    services.agents.forget(id);
    return maskedResponse({ deleted: true, id }, services.runtime.redact);
  },
};
