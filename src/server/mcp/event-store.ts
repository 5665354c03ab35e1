import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const MAX_EVENTS = 500;
const MAX_BYTES = 4 * 2 ** 20;

interface StoredEvent {
  readonly number: number;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/** The last messages of one session, so that a client whose connection broke gets what it missed. */
export class RecentEvents implements EventStore {
  #events: StoredEvent[] = [];
  #bytes = 0;
  #count = 0;
  /** The last one that had to be given up, and with it all before. */
  #forgotten = 0;

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const event = { number: this.#count, stream, message, bytes: JSON.stringify(message).length };
    this.#leaveOut(this.#events.findIndex((earlier) => isReplacedBy(earlier, event)));
    this.#events.push(event);
    this.#bytes += event.bytes;
    while (this.#events.length > 1 && (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES)) {
      this.#forgotten = this.#events[0]?.number ?? 0;
      this.#leaveOut(0);
    }
    return `${event.number}_${stream}`;
  }

  /** Undefined when nobody can say any more what came after it. */
  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    const place = placeOf(id);
    if (place === undefined || place.number > this.#count || place.number < this.#forgotten) return undefined;
    return place.stream;
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = await this.getStreamIdForEventId(lastId);
    if (stream === undefined) throw new Error("the event is no longer known");
    const after = placeOf(lastId)?.number ?? 0;
    for (const { number, stream: own, message } of [...this.#events]) {
      // The first message of a stream only says where it begins.
      if (own === stream && number > after && Object.keys(message).length > 0)
        await send(`${number}_${stream}`, message);
    }
    return stream;
  }

  #leaveOut(index: number): void {
    const [gone] = index === -1 ? [] : this.#events.splice(index, 1);
    this.#bytes -= gone?.bytes ?? 0;
  }
}

/** Where a stream is: its number and its name, so that it can be found after the event itself has gone. */
function placeOf(id: string): { readonly number: number; readonly stream: string } | undefined {
  const [, number, stream] = /^(\d{1,15})_(.+)$/.exec(id) ?? [];
  return number === undefined || stream === undefined ? undefined : { number: Number(number), stream };
}

/** Of the reports about one call only the last is worth keeping: hundreds of them would push its result out. */
function isReplacedBy(earlier: StoredEvent, later: StoredEvent): boolean {
  if (earlier.stream !== later.stream) return false;
  const token = progressToken(later.message);
  return token !== undefined && progressToken(earlier.message) === token;
}

function progressToken(message: JSONRPCMessage): unknown {
  if (!("method" in message) || message.method !== "notifications/progress") return undefined;
  return message.params?.progressToken;
}
