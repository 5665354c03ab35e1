import type { IncomingMessage } from "node:http";
import { isRecord } from "../base/record.js";
import { failure } from "../tool/errors.js";
import { tooLarge } from "./gate.js";
import type { ServerLimits } from "./limits.js";
import { badRequest, type Problem } from "./problem.js";
import type { RouteContext } from "./route.js";

/** What a person or a script of the page sends is small; large bodies are for calls. */
const MAX_OBJECT_BYTES = 2 ** 20;

/** The body as one JSON object. Fields that are not among `fields` are the caller's mistake. */
export async function readObject(
  context: RouteContext,
  options: {
    readonly limits: ServerLimits;
    readonly fields: readonly string[];
    readonly maxBytes?: number;
  },
): Promise<{ readonly given: Readonly<Record<string, unknown>> } | Problem> {
  const { limits, fields, maxBytes = MAX_OBJECT_BYTES } = options;
  const body = await readBody(context.env.incoming, { ...limits, bodyBytes: maxBytes });
  if (!Buffer.isBuffer(body)) return body;
  const hint = `Send a JSON object with ${fields.join(", ")}.`;
  let parsed: unknown;
  try {
    parsed = body.length === 0 ? {} : JSON.parse(body.toString("utf8"));
  } catch {
    return badRequest(failure("bad_request", "The body is not JSON", hint));
  }
  if (!isRecord(parsed)) return badRequest(failure("bad_request", "The body must be a JSON object", hint));
  const stranger = Object.keys(parsed).find((key) => !fields.includes(key));
  if (stranger !== undefined)
    return badRequest(failure("bad_request", `Unknown field: ${stranger.slice(0, 40)}`, hint));
  return { given: { ...parsed } };
}

/** The whole body, or why it is not taken. What comes after a refusal is thrown away, not kept. */
export function readBody(incoming: IncomingMessage, limits: ServerLimits): Promise<Buffer | Problem> {
  const encoding = incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return Promise.resolve({
      status: 415,
      code: "unsupported",
      message: `Bodies with the content encoding ${JSON.stringify(encoding.slice(0, 40))} are not taken.`,
      hint: "Send the JSON as it is.",
    });
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let received = 0;
    const settle = (result: Buffer | Problem) => {
      clearTimeout(idle);
      incoming.off("data", onData).off("end", onEnd).off("close", onGone).off("error", onGone);
      incoming.on("error", () => undefined);
      chunks = [];
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > limits.bodyBytes) settle(tooLarge(limits));
      else {
        chunks.push(chunk);
        idle.refresh();
      }
    };
    const onEnd = () => settle(Buffer.concat(chunks, received));
    const onGone = () =>
      settle({
        status: 400,
        code: "bad_request",
        message: "The connection closed before the body was complete.",
      });
    const idle = setTimeout(
      () =>
        settle({
          status: 408,
          code: "timeout",
          message: `No more of the body came for ${limits.bodyIdleMs / 1000} s.`,
          headers: { connection: "close" },
        }),
      limits.bodyIdleMs,
    );
    incoming.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  });
}
