import type { IncomingMessage } from "node:http";
import { tooLarge } from "./gate.js";
import type { ServerLimits } from "./limits.js";
import type { Problem } from "./problem.js";

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
