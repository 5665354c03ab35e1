import { setTimeout as pause } from "node:timers/promises";
import type { Holder, SharedChange, SharedCopy, SharedLog } from "../store/shared-log.js";
import { failure, HermesError } from "../tool/errors.js";
import type { Bus } from "./bus.js";
import { type About, type Head, LogStream, Overtaken } from "./log-stream.js";

const DAY_MS = 86_400_000;
/** Whoever holds something and has not answered for so long is dead. */
const LOST_MS = 3_500;
const ASK_MS = 1_000;
const TELL_MS = 5_000;
/** How often it is tried anew when others write at the same moment. */
const MOST_TRIES = 8;
/** After so many records everything is written at once, so that nobody has to read more than these. */
const MOST_RECORDS = 300;

/** The last record, and how long ago everything was written at once. */
type Since = { -readonly [Key in "seq" | "sinceWhole" | "wholeAt"]: Head[Key] };

const NOTHING: Since = { seq: 0, sinceWhole: 0, wholeAt: 0 };

interface Recorded<Change, Result> {
  changes(): readonly Change[];
  commit(seq: number): Result;
}

/** Conversations and gateways of a cluster: each is worked on by one machine, and any other can go on with it. */
export class SharedLogs implements SharedLog {
  readonly #bus: Bus;
  readonly #stream: LogStream;
  readonly #node: string;
  readonly #renewAfterMs: number;
  readonly #held = new Map<string, Since>();
  readonly #pending = new Map<string, SharedChange[]>();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #listeners = new Map<string, (id: string, body: unknown) => Promise<unknown>>();
  /** Nodes that were found dead: nobody waits for them a second time. */
  readonly #dead = new Set<string>();
  readonly #subscription: { unsubscribe(): void };

  private constructor(
    bus: Bus,
    parts: { readonly stream: LogStream; readonly node: string; readonly keptMs: number },
  ) {
    this.#bus = bus;
    this.#stream = parts.stream;
    this.#node = parts.node;
    this.#renewAfterMs = parts.keptMs === 0 ? Number.POSITIVE_INFINITY : parts.keptMs / 2;
    this.#subscription = bus.subscribe(this.#door(parts.node), (asked) => this.#answer(asked as Asked));
  }

  /** `days`: how long something is kept that nobody writes about; 0: for ever. */
  static async open(
    bus: Bus,
    { node, days }: { readonly node: string; readonly days: number },
  ): Promise<SharedLogs> {
    const keptMs = days * DAY_MS;
    const stream = await LogStream.open(bus, { node, keptMs });
    return new SharedLogs(bus, { stream, node, keptMs });
  }

  refresh<Change extends SharedChange>(copy: SharedCopy<Change>): Promise<void> {
    const subject = this.#subject(copy);
    return this.#inTurn(subject, async () => {
      if (!this.#held.has(subject)) await this.#catchUp(copy, await this.#stream.head(subject));
    });
  }

  hold<Change extends SharedChange>(copy: SharedCopy<Change>): Promise<Holder | undefined> {
    const subject = this.#subject(copy);
    return this.#inTurn(subject, () =>
      this.#untilNobodyOvertakes(async () => {
        const last = await this.#stream.head(subject);
        if (last !== undefined && (await this.#isHeldElsewhere(subject, last)))
          return { node: last.node, host: last.host };
        const head = await this.#catchUp(copy, last);
        // It was deleted elsewhere.
        if (copy.state() === undefined) return undefined;
        const held = { ...(head ?? NOTHING) };
        await this.#write(copy, { since: held, holds: true, ...standing(copy) });
        this.#held.set(subject, held);
        return undefined;
      }),
    );
  }

  release<Change extends SharedChange>(copy: SharedCopy<Change>): Promise<void> {
    const subject = this.#subject(copy);
    return this.#inTurn(subject, async () => {
      const since = this.#held.get(subject);
      this.#held.delete(subject);
      if (since === undefined || copy.state() === undefined) return;
      // Should it fail: whoever wants it asks, and is told that nobody works on it.
      await this.#write(copy, { since, holds: false, ...standing(copy) }).catch(() => undefined);
    });
  }

  record<Change extends SharedChange, Result>(
    copy: SharedCopy<Change>,
    record: Recorded<Change, Result>,
  ): Promise<Result> {
    const subject = this.#subject(copy);
    return this.#inTurn(subject, async () => {
      const since = this.#held.get(subject);
      if (since === undefined) return this.#recordAtRest(copy, record);
      try {
        // What could not be written into this home the last time.
        if (copy.state()?.seq !== since.seq) await this.#catchUp(copy, await this.#stream.head(subject));
        return await this.#write(copy, { since, holds: true, ...record });
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
        this.#held.delete(subject);
        throw takenOver(copy, await this.#stream.head(subject));
      }
    });
  }

  later<Change extends SharedChange>(copy: SharedCopy<Change>, change: Change): void {
    const subject = this.#subject(copy);
    this.#pending.set(subject, [...(this.#pending.get(subject) ?? []), change]);
  }

  async tell({ kind, id }: { readonly kind: string; readonly id: string }, body: unknown): Promise<unknown> {
    const subject = this.#stream.subject(kind, id);
    const head = await this.#stream.head(subject);
    if (head?.holds !== true) throw nobodyHolds(id);
    try {
      return await this.#bus.request(this.#door(head.node), { subject, kind, id, body }, TELL_MS);
    } catch {
      throw nobodyHolds(id);
    }
  }

  hear(kind: string, take: (id: string, body: unknown) => Promise<unknown>): void {
    this.#listeners.set(kind, take);
  }

  async newest(kind: string, isWanted: (about: About) => boolean): Promise<string | undefined> {
    return (await this.#stream.newest(kind, isWanted))?.id;
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  /** Nobody works on it: what is said before the first turn, what is taken back. */
  #recordAtRest<Change extends SharedChange, Result>(
    copy: SharedCopy<Change>,
    record: Recorded<Change, Result>,
  ): Promise<Result> {
    const subject = this.#subject(copy);
    return this.#untilNobodyOvertakes(async () => {
      const last = await this.#stream.head(subject);
      if (last !== undefined && (await this.#isHeldElsewhere(subject, last))) throw heldElsewhere(copy, last);
      const head = await this.#catchUp(copy, last);
      return this.#write(copy, { since: { ...(head ?? NOTHING) }, holds: false, ...record });
    });
  }

  async #untilNobodyOvertakes<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Overtaken) || tries >= MOST_TRIES) throw error;
        await pause(Math.random() * 50);
      }
    }
  }

  async #write<Change extends SharedChange, Result>(
    copy: SharedCopy<Change>,
    record: Recorded<Change, Result> & { readonly since: Since; readonly holds: boolean },
  ): Promise<Result> {
    const { since, holds } = record;
    const subject = this.#subject(copy);
    const isWhole = copy.state()?.isAhead !== false || this.#isLong(since);
    const pending = this.#pending.get(subject) ?? [];
    this.#pending.delete(subject);
    const counted = isWhole
      ? { sinceWhole: 0, wholeAt: Date.now() }
      : { sinceWhole: since.sinceWhole + 1, wholeAt: since.wholeAt };
    const about = { ...copy.about, id: copy.id };
    // What waits stands in the copy already.
    const before: readonly SharedChange[] = isWhole ? [copy.whole()] : pending;
    const changes = [...before, ...record.changes()];
    const after = since.seq;
    try {
      const seq = await this.#stream.append(subject, { ...counted, after, about, holds, changes });
      Object.assign(since, counted, { seq });
    } catch (error) {
      this.#pending.set(subject, [...pending, ...(this.#pending.get(subject) ?? [])]);
      throw error;
    }
    const result = record.commit(since.seq);
    if (changes.at(-1)?.kind === "deleted") this.#stream.forgetBefore(subject, since.seq);
    else if (isWhole && after > 0) this.#stream.forgetBefore(subject, after);
    return result;
  }

  #isLong({ sinceWhole, wholeAt }: Since): boolean {
    return sinceWhole >= MOST_RECORDS || Date.now() - wholeAt > this.#renewAfterMs;
  }

  /** Brings the copy to where the log stands; that is the last record. */
  async #catchUp<Change extends SharedChange>(
    copy: SharedCopy<Change>,
    head: Head | undefined,
  ): Promise<Head | undefined> {
    const subject = this.#subject(copy);
    const state = copy.state();
    if (head?.seq === state?.seq) return head;
    if (head === undefined) {
      // The servers have lost it, or kept it long enough: whoever has it tells it anew.
      if (state !== undefined) copy.apply({ from: state.seq, to: 0, changes: [] });
      return undefined;
    }
    const isBehind = state !== undefined && !state.isAhead && state.seq < head.seq;
    const known = isBehind ? state.seq : 0;
    const { from, last, records } = await this.#stream.read(subject, known);
    const changes = records.flatMap((record) => record.changes) as readonly Change[];
    const whole = changes.findLastIndex(({ kind }) => kind === "whole" || kind === "deleted");
    if (whole === -1 && from === 0) {
      if (changes.length > 0) throw beginningGone(copy);
      // Somebody died before anything of it was whole.
      return { ...head, seq: last, holds: false };
    }
    copy.apply({
      from: state?.seq ?? 0,
      to: last,
      changes: changes.slice(Math.max(whole, 0)),
      isAhead: state?.isAhead === true,
    });
    return { ...head, ...records.at(-1), seq: last };
  }

  /** Asks whoever wrote last. A process that was killed is known to be gone at once; others have some seconds. */
  async #isHeldElsewhere(subject: string, head: Head): Promise<boolean> {
    if (!head.holds || head.node === this.#node) return false;
    const until = performance.now() + LOST_MS;
    while (performance.now() < until) {
      try {
        const isHeld = await this.#bus.request(this.#door(head.node), { subject }, ASK_MS);
        this.#dead.delete(head.node);
        return isHeld === true;
      } catch {
        if (this.#dead.has(head.node)) return false;
        // Whoever reaches nobody cannot tell who is dead.
        if (!this.#bus.isConnected) throw noServers();
        await pause(250);
      }
    }
    this.#dead.add(head.node);
    return false;
  }

  #answer({ subject, kind, id = "", body }: Asked): unknown {
    const isHeld = this.#held.has(subject);
    if (kind === undefined) return isHeld;
    const take = isHeld ? this.#listeners.get(kind) : undefined;
    if (take === undefined) throw nobodyHolds(id);
    return take(id, body);
  }

  /** One after the other for each thing. */
  #inTurn<Result>(subject: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#queues.get(subject) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#queues.set(subject, settled);
    void settled.then(() => {
      if (this.#queues.get(subject) === settled) this.#queues.delete(subject);
    });
    return mine;
  }

  #subject({ kind, id }: SharedCopy<SharedChange>): string {
    return this.#stream.subject(kind, id);
  }

  #door(node: string): string {
    return this.#bus.subject("holder", node);
  }
}

/** Whether the thing of that subject is held; with a kind, something about it. */
interface Asked {
  readonly subject: string;
  readonly kind?: string;
  readonly id?: string;
  readonly body?: unknown;
}

function nobodyHolds(id: string): HermesError {
  return new HermesError(
    failure(
      "unavailable",
      `no machine of the cluster runs ${id} at this moment`,
      "Try again in some seconds.",
    ),
  );
}

/** Nothing but where it stands changes. */
function standing<Change extends SharedChange>(copy: SharedCopy<Change>): Recorded<Change, void> {
  return {
    changes: () => [],
    commit: (to) => copy.apply({ from: copy.state()?.seq ?? 0, to, changes: [] }),
  };
}

function heldElsewhere({ id }: SharedCopy<SharedChange>, { node, host }: Holder): HermesError {
  return new HermesError(
    failure("unavailable", `${id} is being worked on by node ${node} on ${host}`, "Wait until it is done."),
  );
}

function takenOver({ id }: SharedCopy<SharedChange>, by: Holder | undefined): HermesError {
  const who = by === undefined ? "another machine" : `node ${by.node} on ${by.host}`;
  return new HermesError(
    failure(
      "unavailable",
      `${who} has gone on with ${id}: this machine did not answer for a while and was taken for dead`,
      "What was said since is there; open it again.",
    ),
  );
}

function beginningGone({ id }: SharedCopy<SharedChange>): HermesError {
  return new HermesError(
    failure(
      "not_found",
      `the beginning of ${id} is no longer on the NATS servers`,
      "sessions.retention_days says how long they keep it.",
    ),
  );
}

function noServers(): HermesError {
  return new HermesError(
    failure(
      "unavailable",
      "the NATS servers of the cluster cannot be reached",
      "Are they running? Try again.",
    ),
  );
}
