import { isRecord } from "../../base/record.js";
import type { Approver } from "../../call/scope.js";
import type { Content } from "../../tool/content.js";
import { failure } from "../../tool/errors.js";
import { describeThrown } from "../../tool/thrown.js";
import { readObject } from "../body.js";
import type { ChatTold } from "../dashboard-types.js";
import { type EventSender, eventStream } from "../event-stream.js";
import {
  badRequest,
  isProblem,
  maskedResponse,
  maskTexts,
  notFound,
  orNotFound,
  type Problem,
  problemResponse,
} from "../problem.js";
import { numberFrom, SESSION_HEADER, SESSION_NAME } from "../query.js";
import type { Route, RouteContext, ServerServices } from "../route.js";

const MOST_IMAGES = 8;
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;
const MAX_TEXT_CHARS = 1_000_000;

const SESSION_PARAMETER = {
  in: "path",
  required: true,
  name: "session",
  description: "The conversation.",
  schema: { type: "string" },
} as const;

export const chatRoute: Route = {
  method: "POST",
  path: "/v1/chat",
  summary:
    "A message to the agent, answered with the events of the turn, the objects of `hermes chat --jsonl`. The turn goes on " +
    "when the connection closes; GET /v1/chat/{session} follows it, /stop ends it.",
  requestSchema: {
    type: "object",
    required: ["text"],
    properties: {
      session: { type: "string", description: "The conversation to go on with; a new one when left out." },
      text: { type: "string" },
      images: {
        type: "array",
        maxItems: MOST_IMAGES,
        items: {
          type: "object",
          required: ["data", "mimeType"],
          properties: { data: { type: "string", description: "Base64." }, mimeType: { type: "string" } },
        },
      },
    },
    additionalProperties: false,
  },
  answer: {
    description: "One JSON object with a `type` per event; the last one is `result`.",
    type: "text/event-stream",
  },
  problems: ["BadRequest", "NotFound", "Conflict"],

  async handle(context, services) {
    const { limits, agents, turns, auth, running, runtime } = services;
    const body = await readObject(context, {
      limits,
      fields: ["session", "text", "images"],
      maxBytes: limits.bodyBytes,
    });
    if (isProblem(body)) return problemResponse(body);
    const said = messageFrom(body.given);
    if (isProblem(said)) return problemResponse(said);
    const owner = auth.ownerOf(context.env.incoming.headers);
    const lease = await orNotFound(() =>
      agents.lease({
        conversation: said.session,
        owner,
        source: "http",
        door: "http",
        approver: approverFor(context, services),
      }),
    );
    if (isProblem(lease)) return problemResponse(lease);
    const { agent } = lease;
    const { conversation } = agent;
    if (turns.isRunning(conversation, owner)) {
      lease.release();
      return problemResponse({
        status: 409,
        code: "conflict",
        message: "The agent is still at work in this conversation.",
        hint: "Wait for the end of the turn, tell it with /steer, or end it with /stop.",
      });
    }
    const traceparent = context.req.header("traceparent");
    // Ends with the server, not with whoever listens.
    const forever = new AbortController().signal;
    void running
      .run(forever, (signal) =>
        turns.follow({ conversation, owner }, agent.send(said.message, { signal, traceparent })),
      )
      .catch((error: unknown) => runtime.log.error(`a turn failed: ${describeThrown(error).message}`))
      .finally(() => lease.release());
    return streamOf(services, { conversation, owner, after: 0 });
  },
};

export const chatFollowRoute: Route = {
  method: "GET",
  path: "/v1/chat/:session",
  summary:
    "Follows the turn of a conversation that runs or ran last, from its beginning or after `Last-Event-ID`.",
  query: [
    SESSION_PARAMETER,
    { name: "after", description: "Only events after this number.", schema: { type: "integer", minimum: 0 } },
  ],
  answer: { description: "As POST /v1/chat.", type: "text/event-stream" },
  problems: ["NotFound"],

  handle(context, services) {
    const conversation = context.req.param("session") ?? "";
    const owner = services.auth.ownerOf(context.env.incoming.headers);
    const last = context.req.header("last-event-id");
    const after =
      last !== undefined && /^\d{1,9}$/.test(last)
        ? Number(last)
        : numberFrom(context, { name: "after", fallback: 0, min: 0, max: 1e9 });
    const probe = services.turns.read(conversation, { owner, after, signal: AbortSignal.abort() });
    return probe === undefined
      ? problemResponse(noTurn(conversation))
      : streamOf(services, { conversation, owner, after });
  },
};

export const chatStopRoute: Route = {
  method: "POST",
  path: "/v1/chat/:session/stop",
  summary: "Ends the turn that runs in a conversation; every call that was made gets its answer.",
  query: [SESSION_PARAMETER],
  answer: {
    description: "Whether one was running.",
    type: "application/json",
    schema: { type: "object", required: ["running"] },
  },
  problems: ["NotFound"],

  async handle(context, services) {
    const found = agentOf(context, services);
    if (isProblem(found)) return problemResponse(found);
    const { agent, isRunning } = found;
    if (isRunning) await agent.stop();
    const answer: ChatTold = { running: isRunning };
    return maskedResponse(answer, services.runtime.redact);
  },
};

export const chatSteerRoute: Route = {
  method: "POST",
  path: "/v1/chat/:session/steer",
  summary: "Something said to the agent while it works; heard before the model is asked the next time.",
  query: [SESSION_PARAMETER],
  requestSchema: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string" } },
    additionalProperties: false,
  },
  answer: {
    description: "`running` is false when nothing ran and nobody heard it.",
    type: "application/json",
    schema: { type: "object", required: ["running"] },
  },
  problems: ["BadRequest", "NotFound"],

  async handle(context, services) {
    const body = await readObject(context, { limits: services.limits, fields: ["text"] });
    if (isProblem(body)) return problemResponse(body);
    const { text } = body.given;
    if (typeof text !== "string" || text.trim() === "")
      return problemResponse(badRequest(failure("bad_request", "text must not be empty")));
    const found = agentOf(context, services);
    if (isProblem(found)) return problemResponse(found);
    const answer: ChatTold = { running: found.isRunning && found.agent.steer(text) };
    return maskedResponse(answer, services.runtime.redact);
  },
};

function streamOf(
  { turns, limits, runtime }: ServerServices,
  turn: { readonly conversation: string; readonly owner: string; readonly after: number },
): Response {
  return eventStream({
    beatMs: limits.heartbeatMs,
    headers: { [SESSION_HEADER]: turn.conversation },
    onError: (error) => runtime.log.error(`a chat stream failed: ${describeThrown(error).message}`),
    async work({ send, gone }: EventSender) {
      const events = turns.read(turn.conversation, { ...turn, signal: gone });
      for await (const { number, event } of events ?? [])
        if (!send(maskTexts(event, runtime.redact), number)) return;
    },
  });
}

/** Whoever sits at the page can answer; a program gets what programs get. */
function approverFor(context: RouteContext, { runtime }: ServerServices): Approver {
  const { approvals } = runtime;
  const isPage = context.req.header("authorization") === undefined;
  return isPage ? (approvals.configured() ?? approvals.queue()) : approvals.unattended();
}

function agentOf(context: RouteContext, { agents, turns, auth }: ServerServices) {
  const conversation = context.req.param("session") ?? "";
  const owner = auth.ownerOf(context.env.incoming.headers);
  const agent = agents.find(conversation, owner);
  if (agent === undefined) return noTurn(conversation);
  return { agent, isRunning: turns.isRunning(conversation, owner) };
}

function noTurn(conversation: string): Problem {
  return notFound(
    `The agent has not been at work in ${conversation.slice(0, 80)} here.`,
    "POST /v1/chat begins a turn; GET /v1/sessions lists conversations.",
  );
}

function messageFrom(
  given: Readonly<Record<string, unknown>>,
): { readonly session: string | undefined; readonly message: string | readonly Content[] } | Problem {
  const { session, text, images = [] } = given;
  const wrong = (message: string) => badRequest(failure("bad_request", message));
  if (session !== undefined && (typeof session !== "string" || !SESSION_NAME.test(session)))
    return wrong("session must be the id of a conversation");
  if (typeof text !== "string" || text.length > MAX_TEXT_CHARS)
    return wrong(`text must be a text of at most ${MAX_TEXT_CHARS} characters`);
  if (!Array.isArray(images) || images.length > MOST_IMAGES || !images.every(isImage))
    return wrong(`images must be at most ${MOST_IMAGES} pictures with data (base64) and mimeType`);
  if (text.trim() === "" && images.length === 0) return wrong("text must not be empty");
  if (images.length === 0) return { session, message: text };
  const pictures = images.map(({ data, mimeType }): Content => ({ type: "image", data, mimeType }));
  return { session, message: [{ type: "text", text }, ...pictures] };
}

function isImage(value: unknown): value is { readonly data: string; readonly mimeType: string } {
  return (
    isRecord(value) &&
    typeof value.data === "string" &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(value.data) &&
    typeof value.mimeType === "string" &&
    IMAGE_TYPE.test(value.mimeType)
  );
}
