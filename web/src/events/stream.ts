/**
 * One event stream per browser. A browser opens few connections to a server, so the tab that holds the lock listens
 * and tells the others; when it closes, the next one takes over where it stopped.
 */
export interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface StreamState {
  readonly online: boolean;
  /** When the connection was lost. */
  readonly lostAt?: number;
  readonly nextTryAt?: number;
}

type Message =
  | { readonly kind: "event"; readonly id: string; readonly event: ServerEvent }
  | { readonly kind: "state"; readonly state: StreamState }
  | { readonly kind: "hello" }
  | { readonly kind: "retry" };

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

export class EventStream {
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #watchers = new Set<() => void>();
  readonly #channel = new BroadcastChannel("hermes-events");
  #state: StreamState = { online: true };
  /** The newest call heard of: the server tells what came after it. */
  #lastSeq: number | undefined;
  #source: EventSource | undefined;
  #leads = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
    this.#say({ kind: "hello" });
    void navigator.locks.request("hermes-events", () => {
      this.#leads = true;
      this.#connect();
      // Held until the tab is closed.
      return new Promise<never>(() => undefined);
    });
  }

  on(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly subscribeState = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly state = (): StreamState => this.#state;

  tryNow(): void {
    if (this.#leads) this.#connect();
    else this.#say({ kind: "retry" });
  }

  #connect(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    const source = new EventSource(
      this.#lastSeq === undefined ? "/v1/events" : `/v1/events?since=${this.#lastSeq}`,
    );
    this.#source = source;
    source.onopen = () => {
      const wasLost = !this.#state.online;
      this.#failures = 0;
      this.#setState({ online: true });
      if (wasLost) this.#deliver({ id: "", event: { type: "stream.reset" } });
    };
    source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
      const event = parse(data);
      if (event !== undefined) this.#deliver({ id: lastEventId, event });
    };
    source.onerror = () => {
      source.close();
      this.#failures += 1;
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1));
      this.#setState({
        online: false,
        lostAt: this.#state.lostAt ?? Date.now(),
        nextTryAt: Date.now() + wait,
      });
      this.#timer = setTimeout(() => this.#connect(), wait);
    };
  }

  #deliver({ id, event }: { readonly id: string; readonly event: ServerEvent }): void {
    this.#say({ kind: "event", id, event });
    this.#tell(event);
  }

  #hear(message: Message): void {
    if (message.kind === "hello" && this.#leads) this.#say({ kind: "state", state: this.#state });
    if (message.kind === "retry" && this.#leads) this.#connect();
    if (message.kind === "state") this.#setState(message.state);
    if (message.kind !== "event") return;
    this.#tell(message.event);
  }

  #tell(event: ServerEvent): void {
    if (typeof event.seq === "number") this.#lastSeq = Math.max(this.#lastSeq ?? 0, event.seq);
    for (const listener of this.#listeners) listener(event);
  }

  #setState(state: StreamState): void {
    this.#state = state;
    if (this.#leads) this.#say({ kind: "state", state });
    for (const watcher of this.#watchers) watcher();
  }

  #say(message: Message): void {
    this.#channel.postMessage(message);
  }
}

function parse(data: string): ServerEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null && "type" in value
      ? (value as ServerEvent)
      : undefined;
  } catch {
    return undefined;
  }
}
