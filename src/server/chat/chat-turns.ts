import type { AgentEvent } from "../../agent/events.js";

/** An event of a turn with its number, the first is 1. */
export interface NumberedEvent {
  readonly number: number;
  readonly event: AgentEvent;
}

interface Turn {
  readonly owner: string;
  events: NumberedEvent[];
  chars: number;
  last: number;
  isOver: boolean;
  readonly listeners: Set<() => void>;
}

const MOST_TURNS = 64;
const MOST_CHARS = 4 * 1024 * 1024;

/**
 * The turn that each conversation is in, or was in last. It goes on when whoever began it has gone, and can be followed
 * by whoever comes back: with everything that was said, as far as it fits.
 */
export class ChatTurns {
  readonly #turns = new Map<string, Turn>();

  isRunning(conversation: string, owner: string): boolean {
    const turn = this.#find(conversation, owner);
    return turn !== undefined && !turn.isOver;
  }

  /** Takes up the events of a turn; resolves when it is over. */
  async follow(
    about: { readonly conversation: string; readonly owner: string },
    events: AsyncIterable<AgentEvent>,
  ): Promise<void> {
    const turn: Turn = {
      owner: about.owner,
      events: [],
      chars: 0,
      last: 0,
      isOver: false,
      listeners: new Set(),
    };
    this.#turns.delete(about.conversation);
    this.#turns.set(about.conversation, turn);
    this.#makeRoom();
    try {
      for await (const event of events) this.#add(turn, event);
    } finally {
      turn.isOver = true;
      for (const listener of turn.listeners) listener();
    }
  }

  /** What happens in the turn after this number, until it is over; undefined where there is none. */
  read(
    conversation: string,
    {
      owner,
      after,
      signal,
    }: { readonly owner: string; readonly after: number; readonly signal: AbortSignal },
  ): AsyncIterable<NumberedEvent> | undefined {
    const turn = this.#find(conversation, owner);
    return turn === undefined ? undefined : eventsOf(turn, { after, signal });
  }

  #find(conversation: string, owner: string): Turn | undefined {
    const turn = this.#turns.get(conversation);
    return turn?.owner === owner ? turn : undefined;
  }

  #add(turn: Turn, event: AgentEvent): void {
    turn.last += 1;
    turn.events.push({ number: turn.last, event });
    turn.chars += JSON.stringify(event).length;
    // The conversation itself is on the disk; what is gone here is read there.
    while (turn.chars > MOST_CHARS && turn.events.length > 1)
      turn.chars -= JSON.stringify(turn.events.shift()?.event).length;
    for (const listener of turn.listeners) listener();
  }

  /** Those that are over leave first. */
  #makeRoom(): void {
    for (const [conversation, turn] of this.#turns) {
      if (this.#turns.size <= MOST_TURNS) return;
      if (turn.isOver) this.#turns.delete(conversation);
    }
  }
}

async function* eventsOf(
  turn: Turn,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<NumberedEvent> {
  let read = after;
  while (!signal.aborted) {
    const from = read + 1 - (turn.events[0]?.number ?? read + 1);
    const fresh = turn.events.slice(Math.max(0, from));
    for (const each of fresh) {
      yield each;
      read = each.number;
    }
    if (fresh.length > 0) continue;
    if (turn.isOver) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        turn.listeners.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      turn.listeners.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
