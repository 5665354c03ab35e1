import { problemResponse } from "./problem.js";
import type { Route } from "./route.js";

export const eventsRoute: Route = {
  method: "GET",
  path: "/v1/events",
  summary:
    "Server-sent events of what the runtime does. `Last-Event-ID` resumes; when too much was missed the " +
    'first event is {"type":"stream.reset"}. A client that does not read is disconnected.',
  answer: { description: "One JSON object with a `type` per event.", type: "text/event-stream" },

  handle(context, { feed, limits }) {
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
      lastEventId: context.req.header("last-event-id"),
      // Programs come with a token, the page with its cookie.
      isPage: context.req.header("authorization") === undefined,
      drop: () => outgoing.destroy(),
    });
    return new Response(stream, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked" },
    });
  },
};
