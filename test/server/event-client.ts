import { TOKEN } from "./support.js";

export interface ReceivedEvent {
  readonly id: string | undefined;
  readonly data: { readonly type: string } & Record<string, unknown>;
}

/** Reads a stream of server-sent events the way a program does. */
export class EventClient {
  readonly events: ReceivedEvent[] = [];
  readonly comments: string[] = [];
  ended = false;
  readonly #leave = new AbortController();
  #rest = "";

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
    const client = new EventClient();
    // The address of a server, or of its events with a query.
    const at = new URL(url);
    const answer = await fetch(at.pathname === "/" ? new URL("/v1/events", url) : at, {
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      signal: client.#leave.signal,
    });
    if (answer.status !== 200 || answer.body === null) throw new Error(`events answered ${answer.status}`);
    void client.#read(answer.body).catch(() => undefined);
    return client;
  }

  close(): void {
    this.#leave.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) this.#take(decoder.decode(chunk, { stream: true }));
    } finally {
      this.ended = true;
    }
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`(?:^|\\n)${name}: ([^\\n]*)`).exec(block)?.[1];
      const data = field("data");
      if (data !== undefined) this.events.push({ id: field("id"), data: JSON.parse(data) });
      else if (block.startsWith(":")) this.comments.push(block);
    }
  }
}
