import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const MAX_EVENTS = 500;
const MAX_BYTES = 4 * 2 ** 20;

interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/** The last messages of one session, so that a client whose connection broke gets what it missed. */
export class RecentEvents implements EventStore {
  #events: StoredEvent[] = [];
  #bytes = 0;
  #count = 0;

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const id = String(this.#count);
    const bytes = JSON.stringify(message).length;
    this.#events.push({ id, stream, message, bytes });
    this.#bytes += bytes;
    while (this.#events.length > 1 && (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES)) {
      this.#bytes -= this.#events.shift()?.bytes ?? 0;
    }
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream;
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex((event) => event.id === lastId);
    const stream = this.#events[at]?.stream;
    if (stream === undefined) throw new Error("the event is no longer known");
    for (const event of this.#events.slice(at + 1)) {
      // The first message of a stream only says where it begins.
      if (event.stream === stream && Object.keys(event.message).length > 0)
        await send(event.id, event.message);
    }
    return stream;
  }
}
