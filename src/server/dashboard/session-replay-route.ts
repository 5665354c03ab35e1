import { tapeOfSession } from "../../replay/record-tape.js";
import { replayTape } from "../../replay/replay.js";
import { parseTape } from "../../replay/tape.js";
import type { ReplayAnswer } from "../dashboard-types.js";
import { isProblem, maskedResponse, notFound, problemResponse } from "../problem.js";
import type { Route } from "../route.js";
import { conversationOf, ID_PARAMETER } from "./session-routes.js";

export const sessionReplayRoute: Route = {
  method: "GET",
  path: "/v1/sessions/:id/replay",
  summary:
    "What today's tools and rules make of the calls of a conversation, as `hermes replay`: nothing runs, nobody is asked.",
  query: [{ ...ID_PARAMETER, description: "Of the conversation, or of a session of calls." }],
  answer: {
    description: "How many would end as they did, and why the others would not.",
    type: "application/json",
    schema: { type: "object", required: ["session", "calls", "same", "different", "unknown"] },
  },
  problems: ["NotFound"],

  async handle(context, services) {
    const { runtime, auth, conversations } = services;
    const found = await conversationOf(context, services);
    // Calls of programs have a tape too, though nothing was said.
    if (isProblem(found) && auth.principalOf(context.env.incoming.headers) !== "owner")
      return problemResponse(found);
    const id = context.req.param("id") ?? "";
    const lines = await tapeOfSession({ runtime, store: await conversations(), id });
    if (lines === undefined)
      return problemResponse(
        notFound(`There is no session ${id.slice(0, 80)}.`, "GET /v1/sessions lists them."),
      );
    let text = "";
    for await (const line of lines) text += line;
    const answer: ReplayAnswer = await replayTape(runtime, parseTape(text, id));
    return maskedResponse(answer, runtime.redact);
  },
};
