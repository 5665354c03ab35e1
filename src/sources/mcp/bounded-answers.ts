import type { FetchLike } from "@modelcontextprotocol/client";
import { LONGEST_MESSAGE } from "./message-lines.js";

const NEW_LINE = 10;
const RETURN = 13;

/** Ends answers with a message that would fill the memory; a stream of events may go on for ever, one event may not. */
export function boundedAnswers(send: FetchLike, longest = LONGEST_MESSAGE): FetchLike {
  return async (url, init) => {
    const response = await send(url, init);
    const { body, status, statusText, headers } = response;
    // Where it leads to is read from the answer itself.
    const isRedirect = status >= 300 && status < 400;
    if (body === null || isRedirect) return response;
    const isStream = headers.get("content-type")?.includes("event-stream") === true;
    const bounded = body.pipeThrough(new MessageBound({ longest, isStream }));
    return new Response(bounded, { status, statusText, headers });
  };
}

class MessageBound extends TransformStream<Uint8Array, Uint8Array> {
  constructor({ longest, isStream }: { readonly longest: number; readonly isStream: boolean }) {
    let size = 0;
    let isLineEmpty = true;
    super({
      transform(chunk, controller) {
        size += chunk.length;
        for (let start = 0; isStream && start < chunk.length; ) {
          const end = chunk.indexOf(NEW_LINE, start);
          const line = chunk.subarray(start, end === -1 ? chunk.length : end);
          isLineEmpty &&= line.every((byte) => byte === RETURN);
          if (end === -1) break;
          // An empty line ends an event.
          if (isLineEmpty) size = chunk.length - end - 1;
          isLineEmpty = true;
          start = end + 1;
        }
        if (size > longest)
          controller.error(new Error(`it sent a message of more than ${longest / 1024 / 1024} MB`));
        else controller.enqueue(chunk);
      },
    });
  }
}
