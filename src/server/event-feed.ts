import { randomBytes } from "node:crypto";
import type { EventBus, RuntimeEvent } from "../observe/events.js";
import type { LogLine, LogRing } from "../observe/log-ring.js";
import { eventFrame } from "./event-stream.js";
import type { ServerLimits } from "./limits.js";

type FeedEvent = RuntimeEvent | ({ readonly type: "log.line" } & LogLine);

interface Frame {
  readonly bytes: Buffer;
  /** Bytes of all frames up to and with this one, since the start. */
  readonly endsAt: number;
}

interface Client {
  /** Number of the last event it has been given. */
  cursor: number;
  /** Sent before the next event. */
  opening: string;
  /** Set while it asks for more; a client that does not read stops asking. */
  asks: ReadableStreamDefaultController<Uint8Array> | undefined;
  servedAt: number;
  readonly isPage: boolean;
  readonly drop: () => void;
}

/** Even a quick client needs a moment to take what it was given. */
const STALLED_MS = 500;
/** How far the shared list may grow while the event loop has no time to send. */
const BURST_FACTOR = 32;

interface EventFeedOptions {
  readonly events: EventBus;
  readonly redact: (text: string) => string;
  readonly limits: ServerLimits;
  /** Lines of the log are told too; not the chatter, of which there is no end. */
  readonly logLines?: LogRing | undefined;
}

/**
 * Sends the runtime's events to any number of readers. There is one list of recent events and each reader is
 * a place in it, so a slow reader costs nothing but its place; when that place is too far back it is dropped. Before
 * there was a reader it listens to nothing, so that calls need not be told of.
 */
export class EventFeed {
  readonly #epoch = randomBytes(4).toString("hex");
  readonly #options: EventFeedOptions;
  readonly #clients = new Set<Client>();
  readonly #heartbeat: NodeJS.Timeout;
  #frames: Frame[] = [];
  /** Number of the first frame in the list; the first event ever is 1. */
  #first = 1;
  #sweepPlanned = false;
  #unsubscribe: (() => void) | undefined;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#heartbeat = setInterval(() => this.#beat(), options.limits.heartbeatMs).unref();
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Pages in a browser among them: a person may be in front of one. */
  get pages(): number {
    return [...this.#clients].filter(({ isPage }) => isPage).length;
  }

  /** The place of the last event: what comes after it can be given to somebody who has heard the rest elsewhere. */
  get place(): string {
    this.#listen();
    return `${this.#epoch}.${this.#last}`;
  }

  /** Whether everything after this place is still here. */
  knows(id: string): boolean {
    return this.#numberOf(id) !== undefined;
  }

  /** `drop` must cut the connection: a reader that does not read does not notice anything else. */
  open(options: {
    readonly lastEventId?: string | undefined;
    /** Sent before everything else. */
    readonly first?: readonly unknown[] | undefined;
    readonly isPage?: boolean | undefined;
    readonly drop: () => void;
  }): ReadableStream<Uint8Array> {
    this.#listen();
    const known = options.lastEventId === undefined ? this.#last : this.#numberOf(options.lastEventId);
    const first = (options.first ?? []).map((event) => eventFrame(event)).join("");
    const client: Client = {
      cursor: known ?? this.#last,
      opening: OPENING_FRAME + (known === undefined ? RESET_FRAME : first),
      asks: undefined,
      servedAt: performance.now(),
      isPage: options.isPage === true,
      drop: options.drop,
    };
    return new ReadableStream<Uint8Array>(
      {
        // A HEAD request never pulls and so never becomes a client.
        pull: (controller) => {
          this.#clients.add(client);
          client.asks = controller;
          this.#planSweep();
        },
        cancel: () => void this.#clients.delete(client),
      },
      { highWaterMark: 0 },
    );
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = () => undefined;
    clearInterval(this.#heartbeat);
    for (const client of this.#clients) {
      if (client.asks === undefined) client.drop();
      else client.asks.close();
    }
    this.#clients.clear();
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return;
    const { events, logLines } = this.#options;
    const stops = [
      events.on((event) => this.#append(event)),
      logLines?.on((line) => {
        if (line.level !== "debug") this.#append({ type: "log.line", ...line });
      }),
    ];
    this.#unsubscribe = () => {
      for (const stop of stops) stop?.();
    };
  }

  get #last(): number {
    return this.#first + this.#frames.length - 1;
  }

  /** The place an id names, if everything after it is still here. */
  #numberOf(id: string): number | undefined {
    const [epoch, digits] = id.split(".");
    const number = /^\d{1,15}$/.test(digits ?? "") ? Number(digits) : Number.NaN;
    return epoch === this.#epoch && number >= this.#first - 1 && number <= this.#last ? number : undefined;
  }

  #append(event: FeedEvent): void {
    const id = `${this.#epoch}.${this.#last + 1}`;
    const bytes = Buffer.from(frameOf(id, eventJson(event, this.#options.redact)));
    this.#frames.push({ bytes, endsAt: (this.#frames.at(-1)?.endsAt ?? 0) + bytes.length });
    const { pendingEvents, pendingEventBytes } = this.#options.limits;
    if (
      this.#frames.length > pendingEvents * BURST_FACTOR ||
      this.#bytesAfter(this.#first - 1) > pendingEventBytes * BURST_FACTOR
    ) {
      this.#trim();
    }
    this.#planSweep();
  }

  /** Once per turn of the event loop, so that a burst goes out in few pieces and nobody is judged during it. */
  #planSweep(): void {
    if (this.#sweepPlanned) return;
    this.#sweepPlanned = true;
    setImmediate(() => {
      this.#sweepPlanned = false;
      this.#sweep();
    });
  }

  #sweep(): void {
    const shared = new Map<number, Buffer>();
    const stalledBefore = performance.now() - STALLED_MS;
    for (const client of this.#clients) {
      if (client.asks !== undefined) this.#serve(client, shared);
      else if (client.servedAt < stalledBefore && this.#isTooFarBehind(client.cursor)) {
        this.#clients.delete(client);
        client.drop();
      }
    }
    this.#trim();
  }

  /** Clients at the same place, which is nearly all of them, share one piece of memory. */
  #serve(client: Client, shared: Map<number, Buffer>): void {
    if (client.cursor < this.#first - 1) {
      client.opening += RESET_FRAME;
      client.cursor = this.#last;
    }
    if (client.cursor === this.#last && client.opening === "") return;
    const fresh = shared.get(client.cursor) ?? this.#after(client.cursor);
    shared.set(client.cursor, fresh);
    client.cursor = this.#last;
    const bytes = client.opening === "" ? fresh : Buffer.concat([Buffer.from(client.opening), fresh]);
    client.opening = "";
    this.#send(client, bytes);
  }

  #after(cursor: number): Buffer {
    return Buffer.concat(this.#frames.slice(cursor + 1 - this.#first).map((frame) => frame.bytes));
  }

  #send(client: Client, bytes: Uint8Array): void {
    const { asks } = client;
    client.asks = undefined;
    client.servedAt = performance.now();
    asks?.enqueue(bytes);
  }

  #isTooFarBehind(cursor: number): boolean {
    const { pendingEvents, pendingEventBytes } = this.#options.limits;
    return this.#last - cursor > pendingEvents || this.#bytesAfter(cursor) > pendingEventBytes;
  }

  /** Bytes of the events after this place, as far as they are still here. */
  #bytesAfter(cursor: number): number {
    const next = this.#frames[Math.max(cursor + 1 - this.#first, 0)];
    return next === undefined ? 0 : (this.#frames.at(-1)?.endsAt ?? 0) - next.endsAt + next.bytes.length;
  }

  /** Forgets what no client within the limits can still need. */
  #trim(): void {
    let surplus = 0;
    while (surplus < this.#frames.length && this.#isTooFarBehind(this.#first + surplus - 1)) surplus += 1;
    // Moving the list costs its length, so it is done when much can go at once.
    if (surplus < this.#frames.length / 4) return;
    this.#frames = this.#frames.slice(surplus);
    this.#first += surplus;
  }

  #beat(): void {
    const bytes = Buffer.from(HEARTBEAT_FRAME);
    for (const client of this.#clients) if (client.asks !== undefined) this.#send(client, bytes);
    this.#planSweep();
  }
}

const MAX_STRING_CHARS = 2_000;
const MAX_EVENT_CHARS = 16_384;

/** One event as JSON: secrets masked, and small whatever a tool reports as its progress. */
function eventJson(event: FeedEvent, redact: (text: string) => string): string {
  const shorten = (_key: string, value: unknown): unknown => {
    if (typeof value !== "string") return value;
    // Cut before the search, with enough around the cut that no secret shows in half.
    const text = redact(value.slice(0, MAX_STRING_CHARS * 4));
    return text.length > MAX_STRING_CHARS ? `${text.slice(0, MAX_STRING_CHARS)}…` : text;
  };
  try {
    const text = JSON.stringify(event, shorten);
    if (text.length <= MAX_EVENT_CHARS) return text;
  } catch {
    // Progress of a tool need not be JSON; the event itself still happened.
  }
  return JSON.stringify({ ...event, progress: { omitted: true }, tools: [] }, shorten);
}

/** JSON has no raw line breaks, so one `data:` line always holds it. */
function frameOf(id: string, json: string): string {
  return `id: ${id}\ndata: ${json}\n\n`;
}

/** Sent when events between the client's last one and now are lost: what it shows must be read anew. */
const RESET_FRAME = `data: ${JSON.stringify({ type: "stream.reset" })}\n\n`;
const HEARTBEAT_FRAME = ": still here\n\n";
const OPENING_FRAME = "retry: 2000\n\n";
