import { SIGNATURE_HEADER } from "../base/signed-body.js";
import type { HookAnswer } from "../gateway/webhook/webhook.js";
import { readBody } from "./body.js";
import { isProblem, JSON_TYPE, type Problem, problemResponse } from "./problem.js";
import type { Route } from "./route.js";

/** Who takes the messages of webhooks; the server only carries them there. */
export interface HookDoor {
  /** Undefined where there is none of that name. */
  accept(
    name: string,
    delivery: { readonly signature: string | undefined; readonly body: Buffer },
  ): Promise<HookAnswer | undefined>;
}

/** A message is text: the limit of other bodies is for data. */
const MAX_BODY_BYTES = 2 ** 20;

export const hooksRoute: Route = {
  method: "POST",
  path: "/hooks/:name",
  open: true,
  signed: true,
  summary:
    "A message to the agent from a program that shares a secret (webhooks.NAME.secret). It needs no token but the " +
    "header X-Hermes-Signature: t=UNIX,v1=HEX, the HMAC-SHA256 of time, dot and body, at most five minutes old.",
  query: [
    {
      in: "path",
      required: true,
      name: "name",
      description: "Of webhooks in the settings.",
      schema: { type: "string" },
    },
    {
      in: "header",
      required: true,
      name: "X-Hermes-Signature",
      description: "t=UNIX,v1=HEX",
      schema: { type: "string" },
    },
  ],
  requestSchema: {
    type: "object",
    required: ["text"],
    properties: {
      text: { type: "string" },
      id: { type: "string", description: "The same when the message is sent a second time." },
      chat: { type: "string", description: "Messages of one chat are one conversation." },
    },
  },
  answer: {
    status: 202,
    description: "It is on disk and will be answered; the answer is posted to webhooks.NAME.url.",
    type: "application/json",
    schema: {
      type: "object",
      required: ["ok", "id", "repeat"],
      properties: { ok: { const: true }, id: { type: "string" }, repeat: { type: "boolean" } },
    },
  },
  problems: ["BadRequest"],

  async handle(context, { hooks, limits }) {
    const body = await readBody(context.env.incoming, { ...limits, bodyBytes: MAX_BODY_BYTES });
    if (isProblem(body)) return problemResponse(body);
    const name = context.req.param("name") ?? "";
    const answer = await hooks?.accept(name, { signature: context.req.header(SIGNATURE_HEADER), body });
    // Somebody without the secret does not learn which names there are.
    if (answer === undefined) return problemResponse(refusal("unsigned", "The signature does not fit."));
    if (!answer.taken) return problemResponse(refusal(answer.why, answer.message));
    return new Response(JSON.stringify({ ok: true, id: answer.id, repeat: answer.isRepeat }), {
      status: 202,
      headers: { "content-type": JSON_TYPE },
    });
  },
};

function refusal(why: "unsigned" | "unreadable" | "away", message: string): Problem {
  switch (why) {
    case "unsigned":
      return {
        status: 401,
        code: "unauthenticated",
        message,
        hint: "Sign time, dot and body with webhooks.NAME.secret: docs/gateways.md shows how.",
      };
    case "unreadable":
      return { status: 400, code: "bad_request", message };
    case "away":
      return { status: 503, code: "unavailable", message, hint: "Send it again in a moment." };
  }
}
