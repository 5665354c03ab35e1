import { markdownOf } from "../../agent/sessions/markdown.js";
import { eachMessage, publicConversation, publicMessage } from "../../agent/sessions/public.js";
import { tapeOfConversation, tapeOfJournal } from "../../replay/record-tape.js";
import { failure, HermesError } from "../../tool/errors.js";
import { isProblem, type Problem, problemResponse } from "../problem.js";
import type { Route, RouteContext, ServerServices } from "../route.js";
import { conversationOf, type Found, ID_PARAMETER } from "./session-routes.js";

const FORMATS = ["jsonl", "md", "tape"] as const;

export const sessionExportRoute: Route = {
  method: "GET",
  path: "/v1/sessions/:id/export",
  summary: "A conversation as a file, as `hermes sessions export`, secrets masked.",
  query: [
    ID_PARAMETER,
    {
      name: "format",
      description: "Lines of JSON, Markdown, or a tape to replay it from.",
      schema: { type: "string", enum: FORMATS, default: "jsonl" },
    },
  ],
  answer: { description: "A file.", type: "application/octet-stream" },
  problems: ["BadRequest", "NotFound"],

  async handle(context, services) {
    const wanted = context.req.query("format") ?? "jsonl";
    const format = FORMATS.find((known) => known === wanted);
    if (format === undefined)
      throw new HermesError(
        failure("bad_request", `Unknown format: ${wanted.slice(0, 40)}`, `There are: ${FORMATS.join(", ")}.`),
      );
    const parts = await partsOf(context, services, format);
    if (isProblem(parts)) return problemResponse(parts);
    const name = (context.req.param("id") ?? "").replace(/[^\w-]/g, "_");
    return new Response(ReadableStream.from(encoded(parts.texts, services.runtime.redact)), {
      headers: {
        "content-type": format === "md" ? "text/markdown; charset=utf-8" : "application/jsonl; charset=utf-8",
        "content-disposition": `attachment; filename="${name}.${format === "tape" ? "tape.jsonl" : format}"`,
        "transfer-encoding": "chunked",
      },
    });
  },
};

async function partsOf(
  context: RouteContext,
  services: ServerServices,
  format: (typeof FORMATS)[number],
): Promise<{ readonly texts: AsyncIterable<string> } | Problem> {
  const { runtime, auth } = services;
  const found = await conversationOf(context, services);
  if (!isProblem(found)) {
    const { store, conversation } = found;
    if (format === "md") return { texts: markdownOf(store, conversation) };
    if (format === "jsonl") return { texts: linesOf(found) };
    return {
      texts: tapeOfConversation({ runtime, conversation, messages: eachMessage(store, conversation.id) }),
    };
  }
  // Calls of programs have a tape too, though nothing was said.
  if (format !== "tape" || auth.principalOf(context.env.incoming.headers) !== "owner") return found;
  const texts = await tapeOfJournal(runtime, context.req.param("id") ?? "");
  return texts === undefined ? found : { texts };
}

async function* linesOf({ store, conversation }: Found): AsyncGenerator<string> {
  yield `${JSON.stringify({ type: "session", ...publicConversation(conversation) })}\n`;
  for await (const message of eachMessage(store, conversation.id))
    yield `${JSON.stringify({ type: "message", ...publicMessage(message) })}\n`;
}

async function* encoded(
  parts: AsyncIterable<string>,
  redact: (text: string) => string,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const part of parts) yield encoder.encode(redact(part));
}
