/** One JSON object for each event. JSON has no raw line breaks, so one `data:` line always holds it. */
export function eventFrame(event: unknown, id?: number): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
}

/** A reader that is further behind than this gets nothing more until it has caught up. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

export interface EventSender {
  /** False when the reader is too far behind, and nothing was sent. */
  send(event: unknown, id?: number): boolean;
  readonly gone: AbortSignal;
}

/**
 * Server-sent events of one piece of work: they end with it, and it hears when the reader has gone. Comments keep the
 * connection awake meanwhile.
 */
export function eventStream(options: {
  readonly beatMs: number;
  work(sender: EventSender): Promise<void>;
  onError(error: unknown): void;
  readonly headers?: Readonly<Record<string, string>>;
}): Response {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string) => {
          if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
        };
        const beat = setInterval(() => write(": still here\n\n"), options.beatMs).unref();
        write("retry: 2000\n\n");
        const sender: EventSender = {
          gone: gone.signal,
          send(event, id) {
            if ((controller.desiredSize ?? 0) < -MOST_WAITING_BYTES) return false;
            write(eventFrame(event, id));
            return true;
          },
        };
        void options
          .work(sender)
          .catch(options.onError)
          .finally(() => {
            clearInterval(beat);
            if (!gone.signal.aborted) controller.close();
          });
      },
      cancel: () => gone.abort(new Error("the reader has gone")),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "transfer-encoding": "chunked",
      ...options.headers,
    },
  });
}
