import { StringDecoder } from "node:string_decoder";
import type { ProcessStreamEvent } from "../dashboard-types.js";
import { eventStream } from "../event-stream.js";
import { notFound, problemResponse } from "../problem.js";
import { publicProcess } from "../process-routes.js";
import type { Route } from "../route.js";

/** A line is masked as a whole; what has no end yet, like a prompt, is shown after so long. */
const UNFINISHED_MS = 150;

export const processStreamRoute: Route = {
  method: "GET",
  path: "/v1/processes/:id/stream",
  summary:
    "What a background process has printed and goes on printing, with its escape codes, for a terminal. Ends with the process.",
  query: [
    {
      in: "path",
      required: true,
      name: "id",
      description: "Of the process.",
      schema: { type: "string" },
    },
  ],
  answer: {
    description:
      '{"type":"output","data":BASE64} as it comes, then {"type":"ended","process"}. Secrets are masked.',
    type: "text/event-stream",
  },
  problems: ["NotFound"],

  handle(context, { runtime, limits }) {
    const id = context.req.param("id") ?? "";
    const found = runtime.processes.find(id);
    if (found === undefined)
      return problemResponse(
        notFound(
          `There is no background process ${id.slice(0, 80)} in this server.`,
          "GET /v1/processes lists them.",
        ),
      );
    return eventStream({
      beatMs: limits.heartbeatMs,
      onError: (error) => runtime.log.error(`a terminal stream failed: ${String(error)}`),
      async work({ send, gone }) {
        const show = (text: string) => {
          if (text === "") return;
          const data = Buffer.from(runtime.redact(text)).toString("base64");
          const event: ProcessStreamEvent = { type: "output", data };
          send(event);
        };
        const output = new MaskableText(show);
        output.take(found.bytes());
        const stop = found.listen((bytes) => output.take(bytes));
        await Promise.race([found.ended, aborted(gone)]);
        stop();
        output.end();
        const ended: ProcessStreamEvent = { type: "ended", process: publicProcess(found.info) };
        if (found.info.status !== "running") send(ended);
      },
    });
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Bytes as they come, text in whole lines: a secret that came in two pieces is found. */
class MaskableText {
  readonly #show: (text: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  take(bytes: Uint8Array): void {
    this.#rest += this.#decoder.write(Buffer.from(bytes));
    const end = this.#rest.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.#show(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end);
    }
    if (this.#rest !== "") this.#timer ??= setTimeout(() => this.#flush(), UNFINISHED_MS).unref();
  }

  end(): void {
    this.#rest += this.#decoder.end();
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#show(this.#rest);
    this.#rest = "";
  }
}
