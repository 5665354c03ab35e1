import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { encodeResults, isParsedRequest, parseRequestText } from "../protocol/index.js";
import { readBody } from "./body.js";
import { badRequest, isProblem, JSON_TYPE, problemResponse } from "./problem.js";
import { clientFrom, SESSION_HEADER, SESSION_PARAMETER, TOOLSETS_PARAMETER } from "./query.js";
import type { Route } from "./route.js";

export const toolCallsRoute: Route = {
  method: "POST",
  path: "/v1/tool_calls",
  summary:
    "Runs the tool calls of a message and answers in its format: the tool_calls envelope, or a message of " +
    "OpenAI Chat, OpenAI Responses, Anthropic, Gemini, or an MCP tools/call request.",
  query: [TOOLSETS_PARAMETER, SESSION_PARAMETER],
  requestSchema: {
    type: ["object", "array"],
    examples: [
      {
        tool_calls: [{ id: "call_1", type: "function", function: { name: "system_info", arguments: {} } }],
      },
    ],
  },
  answer: {
    description: "One result per call, in the order of the calls. Calls that failed are results too.",
    type: "application/json",
    schema: {
      type: ["object", "array"],
      examples: [
        { tool_results: [{ tool_call_id: "call_1", role: "tool", name: "system_info", content: {} }] },
      ],
    },
  },

  handle(context, { sessions, running, limits, auth }) {
    const client = clientFrom(context, auth);
    return running.run(context.req.raw.signal, async (signal) => {
      const body = await readBody(context.env.incoming, limits);
      if (isProblem(body)) return problemResponse(body);
      const request = parseRequestText(body);
      if (!isParsedRequest(request)) return problemResponse(badRequest(request));
      const { value, name } = await sessions.use(client, (session) =>
        session.callAll(request.calls, { signal, traceparent: context.req.header("traceparent") }),
      );
      // Written here: reading an answer back out of the stream of a Response takes as long as a small call does.
      const { outgoing } = context.env;
      outgoing.setHeader("content-type", JSON_TYPE);
      if (name !== undefined) outgoing.setHeader(SESSION_HEADER, name);
      outgoing.end(JSON.stringify(encodeResults(request, value)));
      return RESPONSE_ALREADY_SENT;
    });
  },
};
