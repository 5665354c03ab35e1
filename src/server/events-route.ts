import type { JournalRow } from "../call/journal.js";
import { briefCall } from "./calls-route.js";
import type { ReplayedCall } from "./dashboard-types.js";
import { problemResponse } from "./problem.js";
import { numberFrom } from "./query.js";
import type { Route, RouteContext, ServerServices } from "./route.js";

/** Who has missed more than this reads the list anew. */
const MOST_REPLAYED = 1_000;

export const eventsRoute: Route = {
  method: "GET",
  path: "/v1/events",
  summary:
    "Server-sent events of what the runtime does. `Last-Event-ID` resumes; when too much was missed the " +
    'first event is {"type":"stream.reset"}. A client that does not read is disconnected.',
  query: [
    {
      name: "since",
      description:
        "Number of the last call in the journal that the client knows the end of. Where events are lost, calls that " +
        "ended since are told from the journal (`replayed`: true) in place of `stream.reset`.",
      schema: { type: "integer", minimum: 0 },
    },
  ],
  answer: { description: "One JSON object with a `type` per event.", type: "text/event-stream" },

  async handle(context, services) {
    const { feed, limits } = services;
    if (feed.clients >= limits.eventClients) {
      return problemResponse({
        status: 503,
        code: "busy",
        message: `${feed.clients} clients already listen to events.`,
        hint: "Close some of them, or try again later.",
      });
    }
    const { outgoing } = context.env;
    const stream = feed.open({
      ...(await startOf(context, services)),
      // Programs come with a token, the page with its cookie.
      isPage: context.req.header("authorization") === undefined,
      drop: () => outgoing.destroy(),
    });
    return new Response(stream, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked" },
    });
  },
};

/** Where the client goes on, and what it has missed, as far as that is known. */
async function startOf(
  context: RouteContext,
  { feed, runtime }: ServerServices,
): Promise<{ readonly lastEventId?: string | undefined; readonly first?: readonly ReplayedCall[] }> {
  const lastEventId = context.req.header("last-event-id");
  const isLost = lastEventId !== undefined && !feed.knows(lastEventId);
  if (context.req.query("since") === undefined || (lastEventId !== undefined && !isLost))
    return { lastEventId };
  const since = Math.trunc(numberFrom(context, { name: "since", fallback: 0, min: 0, max: 1e9 }));
  // Before the journal is read: what happens meanwhile is then told twice rather than not at all.
  const { place } = feed;
  const rows = await (await runtime.journal()).recent({ limit: MOST_REPLAYED + 1 });
  const missed = rows.filter(({ seq, status }) => seq > since && status !== "running");
  if (missed.length > MOST_REPLAYED) return { lastEventId: "lost" };
  return { lastEventId: place, first: missed.map(replayed).reverse() };
}

function replayed(row: JournalRow): ReplayedCall {
  const { call_id: id, session_id: session, tool: name, started_at: at, ...call } = briefCall(row);
  return {
    type: "call.finished",
    replayed: true,
    seq: call.seq,
    session,
    conversation: call.conversation,
    id,
    name,
    toolset: call.toolset,
    preview: call.preview,
    ok: call.status === "ok",
    status: call.status,
    code: call.error_code,
    state: call.state,
    duration_ms: call.duration_ms,
    at: at + Math.round(call.duration_ms ?? 0),
    door: call.door,
    environment: call.environment,
    decision: call.decision,
    rule: call.rule,
    parent: call.parent,
    model: call.model,
  };
}
