import type { Agent } from "../agent/agent.js";
import type { AgentEvent, AgentResult } from "../agent/events.js";
import { HermesError } from "../tool/errors.js";
import { readBody } from "./body.js";
import type { Lease } from "./chat/agent-pool.js";
import { ChatAnswer, problemOfTurn } from "./chat/chat-answer.js";
import { type ChatRequest, chatRequestFrom, MODEL_ID } from "./chat/chat-request.js";
import {
  isProblem,
  jsonResponse,
  type Problem,
  problemOfThrown,
  problemResponse,
  problemText,
} from "./problem.js";
import { clientFrom, SESSION_HEADER } from "./query.js";
import type { Route, RouteContext, ServerServices } from "./route.js";

export const modelsRoute: Route = {
  method: "GET",
  path: "/v1/models",
  summary: "The model of POST /v1/chat/completions: the agent of this server.",
  answer: {
    description: "A list as OpenAI writes it.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["object", "data"],
      properties: { object: { const: "list" }, data: { type: "array", items: { type: "object" } } },
    },
  },
  handle: () =>
    jsonResponse({
      object: "list",
      data: [{ id: MODEL_ID, object: "model", created: 0, owned_by: "hermes-tools" }],
    }),
};

export const chatCompletionsRoute: Route = {
  method: "POST",
  path: "/v1/chat/completions",
  summary:
    "A message to the agent, as OpenAI's chat clients send it. The tools run here; the answer says under `hermes` " +
    "which conversation it is and what was called.",
  query: [
    {
      in: "header",
      name: "X-Hermes-Session",
      description:
        "The conversation to go on with, as an earlier answer named it: only the last message is new. Left out, the " +
        "messages are the conversation.",
      schema: { type: "string", pattern: "^[A-Za-z0-9_.:-]{1,128}$" },
    },
  ],
  requestSchema: {
    type: "object",
    required: ["messages"],
    properties: {
      model: { const: MODEL_ID },
      messages: { type: "array", minItems: 1, items: { type: "object" } },
      stream: { type: "boolean" },
      stream_options: { type: "object", properties: { include_usage: { type: "boolean" } } },
    },
  },
  answer: {
    description: "A chat completion; with `stream` its chunks (text/event-stream), the last one `[DONE]`.",
    type: "application/json",
    schema: { type: "object" },
  },
  problems: ["BadRequest", "NotFound", "Conflict"],

  handle(context, services) {
    const { running, limits } = services;
    const gone = new AbortController();
    const client = AbortSignal.any([context.req.raw.signal, gone.signal]);
    return running.run(client, async (signal) => {
      const { name: conversation } = clientFrom(context, services.auth);
      const body = await readBody(context.env.incoming, limits);
      if (isProblem(body)) return problemResponse(body);
      const request = chatRequestFrom(body, { lastOnly: conversation !== undefined });
      if (isProblem(request)) return problemResponse(request);
      const lease = await leaseFor(context, { services, conversation, request });
      if (isProblem(lease)) return problemResponse(lease);
      const traceparent = context.req.header("traceparent");
      if (!request.stream) return wholeAnswer({ lease, request, signal, traceparent });
      // The stream outlives this function: it is a running request of its own.
      const stream = chunks({ lease, request, traceparent, beatMs: limits.heartbeatMs, gone });
      running
        .run(client, (until) => stream.run(until))
        .catch((error: unknown) => services.runtime.log.error(`a chat stream failed: ${String(error)}`));
      return answerOf(lease.agent, stream.bytes, "text/event-stream; charset=utf-8");
    });
  },
};

/** What tools elsewhere have answered was written by nobody knows whom. */
const CLIENTS_TOOLS = "tool results that the client sent";

async function leaseFor(
  context: RouteContext,
  wish: {
    readonly services: ServerServices;
    readonly conversation: string | undefined;
    readonly request: ChatRequest;
  },
): Promise<Lease | Problem> {
  const { services, conversation, request } = wish;
  const { runtime, auth, agents } = services;
  try {
    return await agents.lease({
      conversation,
      owner: auth.ownerOf(context.env.incoming.headers),
      source: "http",
      door: "http",
      approver: runtime.approvals.unattended(),
      instructions: request.instructions,
      history: request.history,
      heard: request.history.some(({ role }) => role === "tool") ? [CLIENTS_TOOLS] : [],
    });
  } catch (thrown) {
    if (!(thrown instanceof HermesError) || thrown.code !== "not_found") throw thrown;
    return { ...problemOfThrown(thrown), status: 404 };
  }
}

interface Turn {
  readonly lease: Lease;
  readonly request: ChatRequest;
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
}

async function wholeAnswer({ lease, request, signal, traceparent }: Turn): Promise<Response> {
  try {
    const { result, problem } = await follow(lease.agent.send(request.message, { signal, traceparent }));
    if (problem !== undefined || result === undefined) return problemResponse(problem ?? NO_RESULT);
    return answerOf(
      lease.agent,
      JSON.stringify(new ChatAnswer().whole(result)),
      "application/json; charset=utf-8",
    );
  } finally {
    lease.release();
  }
}

const NO_RESULT: Problem = problemOfTurn({
  type: "error",
  code: "internal",
  message: "the turn ended without a result",
});

/** All events of a turn, and how it ended. An error counts only when the turn ended with it. */
async function follow(
  events: AsyncIterable<AgentEvent>,
  onEvent: (event: AgentEvent) => void = () => {},
): Promise<{ readonly result?: AgentResult; readonly problem?: Problem }> {
  let error: Extract<AgentEvent, { type: "error" }> | undefined;
  let result: AgentResult | undefined;
  for await (const event of events) {
    if (event.type === "error") error = event;
    else if (event.type === "result") result = event;
    else onEvent(event);
  }
  const failed = result === undefined || result.stop === "error" ? error : undefined;
  return {
    ...(result !== undefined && { result }),
    ...(failed !== undefined && { problem: problemOfTurn(failed) }),
  };
}

/** Server-sent events of a turn. Comments keep the connection awake while a tool runs. */
function chunks(parts: {
  readonly lease: Lease;
  readonly request: ChatRequest;
  readonly traceparent: string | undefined;
  readonly beatMs: number;
  readonly gone: AbortController;
}): { readonly bytes: ReadableStream<Uint8Array>; run(signal: AbortSignal): Promise<void> } {
  const { lease, request, traceparent, beatMs, gone } = parts;
  const encoder = new TextEncoder();
  const out: { to?: ReadableStreamDefaultController<Uint8Array> } = {};
  const write = (text: string) => {
    if (!gone.signal.aborted) out.to?.enqueue(encoder.encode(text));
  };
  const send = (chunk: Readonly<Record<string, unknown>> | undefined) => {
    if (chunk !== undefined) write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const bytes = new ReadableStream<Uint8Array>({
    start: (controller) => {
      out.to = controller;
    },
    cancel: () => gone.abort(new Error("the client has gone")),
  });
  const run = async (signal: AbortSignal) => {
    const beat = setInterval(() => write(": still here\n\n"), beatMs).unref();
    const answer = new ChatAnswer();
    try {
      send(answer.begun());
      const turn = lease.agent.send(request.message, { signal, traceparent });
      const { result, problem } = await follow(turn, (event) => send(answer.during(event)));
      if (problem !== undefined || result === undefined)
        write(`data: ${problemText(problem ?? NO_RESULT)}\n\n`);
      else {
        send(answer.unsaid(result));
        send(answer.ended(result));
        if (request.includeUsage) send(answer.usage(result));
        write("data: [DONE]\n\n");
      }
    } finally {
      clearInterval(beat);
      lease.release();
      if (!gone.signal.aborted) out.to?.close();
    }
  };
  return { bytes, run };
}

function answerOf(agent: Agent, body: string | ReadableStream<Uint8Array>, type: string): Response {
  return new Response(body, {
    headers: {
      "content-type": type,
      [SESSION_HEADER]: agent.conversation,
      // Sent as it comes.
      ...(typeof body !== "string" && { "transfer-encoding": "chunked" }),
    },
  });
}
