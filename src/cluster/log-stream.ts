import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";
import { JetStreamApiError, type MsgRequest, type StoredMsg } from "@nats-io/jetstream";
import type { Holder } from "../store/shared-log.js";
import { failure, HermesError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { Bus } from "./bus.js";

/** What NATS answers to a writer who does not know the last record. */
const WRONG_LAST_SEQUENCE = 10_071;
/** A record that is larger lies in several messages: a server takes no more than a megabyte at once. */
const LARGEST_PIECE = 512 * 1024;
/** How long a record is offered to servers that do not answer. */
const OFFER_MS = 8_000;
const ANSWER_MS = 2_000;
const MOST_READS = 4;
/** How far back it is looked for the newest one of a kind. */
const LOOK_BACK = 500;

export type About = Readonly<Record<string, string>>;

/** The last thing that was written about something. */
export interface Head extends Holder {
  readonly seq: number;
  /** Whether whoever wrote it goes on. */
  readonly holds: boolean;
  /** Records since everything was written at once, and when that was. */
  readonly sinceWhole: number;
  readonly wholeAt: number;
}

export interface LogRecord extends Head {
  readonly changes: readonly unknown[];
}

export interface ReadRecords {
  /** The record before them, 0 for none. */
  readonly from: number;
  readonly last: number;
  readonly records: readonly LogRecord[];
}

export type NewRecord = Pick<LogRecord, "holds" | "sinceWhole" | "wholeAt" | "changes"> & {
  /** The last record, as far as the writer knows. */
  readonly after: number;
  readonly about: About;
};

/** One message of the stream, sealed. A record with more pieces than this one counts when the last of them is there. */
interface Piece extends Omit<NewRecord, "changes">, Holder {
  readonly uid: string;
  readonly left: number;
  readonly bytes: Uint8Array;
}

/** Somebody else has written since. */
export class Overtaken extends Error {
  override readonly name = "Overtaken";
}

/** Records in one JetStream stream, a subject for each thing. */
export class LogStream {
  readonly #bus: Bus;
  readonly #stream: string;
  readonly #self: Holder;
  /** By subject, up to where: two at once would come in each other's way. */
  readonly #forgetting = new Map<string, number>();

  private constructor(bus: Bus, parts: { readonly stream: string; readonly node: string }) {
    this.#bus = bus;
    this.#stream = parts.stream;
    this.#self = { node: parts.node, host: hostname() };
  }

  static async open(
    bus: Bus,
    { node, keptMs }: { readonly node: string; readonly keptMs: number },
  ): Promise<LogStream> {
    return new LogStream(bus, { stream: await bus.lasting("chats", keptMs), node });
  }

  subject(kind: string, id: string): string {
    return this.#bus.subject("chats", kind, Buffer.from(id).toString("base64url"));
  }

  async head(subject: string): Promise<Head | undefined> {
    const found = await this.#get({ last_by_subj: subject });
    if (found === null) return undefined;
    const { bytes: _, ...head } = await this.#open(subject, found.data);
    return { ...head, seq: found.seq };
  }

  /** Those behind a number, in order; from the first there is when that one is no longer the one before them. */
  async read(subject: string, after: number, tries = MOST_READS): Promise<ReadRecords> {
    const records: LogRecord[] = [];
    let bytes: Uint8Array[] = [];
    let uid = "";
    let last = after;
    for (;;) {
      const query = { seq: last + 1, next_by_subj: subject };
      const found = await this.#get(query);
      if (found === null) return { from: after, last, records };
      const piece = await this.#open(subject, found.data);
      if (piece.after !== last && last !== 0) {
        // They may have been forgotten meanwhile, for a later one that holds everything.
        if (tries > 1) return this.read(subject, 0, tries - 1);
        throw new Error(`records of ${subject} are missing between ${last} and ${found.seq}`);
      }
      last = found.seq;
      // Of a record that its writer did not finish nothing counts.
      if (piece.uid !== uid) bytes = [];
      uid = piece.uid;
      bytes.push(piece.bytes);
      if (piece.left > 0) continue;
      const changes = deserialize(Buffer.concat(bytes)) as readonly unknown[];
      records.push({ ...piece, seq: found.seq, changes });
      bytes = [];
    }
  }

  /** Answers with its number when the servers have it. */
  async append(subject: string, { changes, ...record }: NewRecord): Promise<number> {
    const uid = randomUUID();
    const pieces = piecesOf(serialize(changes));
    let after = record.after;
    for (const [index, bytes] of pieces.entries()) {
      const left = pieces.length - 1 - index;
      after = await this.#offer(subject, { ...record, ...this.#self, after, uid, left, bytes });
    }
    return after;
  }

  /** What came before is in the record of that number. */
  forgetBefore(subject: string, seq: number): void {
    const isRunning = this.#forgetting.has(subject);
    this.#forgetting.set(subject, seq);
    if (isRunning) return;
    // What is left is forgotten the next time.
    void this.#forget(subject)
      .catch(() => undefined)
      .finally(() => this.#forgetting.delete(subject));
  }

  /** One by one: what is purged by subject NATS up to 2.9 goes on counting. The oldest first, so that no part is missing. */
  async #forget(subject: string): Promise<void> {
    const first = { seq: 1, next_by_subj: subject };
    for (;;) {
      const oldest = await this.#get(first);
      if (oldest === null || oldest.seq >= (this.#forgetting.get(subject) ?? 0)) return;
      await this.#bus.streams.streams.deleteMessage(this.#stream, oldest.seq, false);
    }
  }

  async newest(kind: string, isWanted: (about: About) => boolean): Promise<About | undefined> {
    const { streams } = this.#bus.streams;
    const { state } = await streams.info(this.#stream);
    const prefix = this.#bus.subject("chats", kind, "");
    const first = Math.max(state.first_seq, state.last_seq - LOOK_BACK);
    for (let seq = state.last_seq; seq >= first && seq > 0; seq -= 1) {
      const found = await this.#get({ seq });
      if (found?.subject.startsWith(prefix) !== true) continue;
      const { about } = await this.#open(found.subject, found.data);
      if (isWanted(about)) return about;
    }
    return undefined;
  }

  async #get(query: MsgRequest): Promise<StoredMsg | null> {
    try {
      return await this.#bus.streams.streams.getMessage(this.#stream, query);
    } catch (error) {
      throw unreachable("do not tell what was said", error);
    }
  }

  async #open(subject: string, data: Uint8Array): Promise<Piece> {
    return (await this.#bus.open(subject, data)) as Piece;
  }

  async #offer(subject: string, piece: Piece): Promise<number> {
    const data = this.#bus.sealLasting(subject, piece);
    const until = performance.now() + OFFER_MS;
    for (;;) {
      try {
        const expect = { lastSubjectSequence: piece.after };
        return (await this.#bus.js.publish(subject, data, { expect, timeout: ANSWER_MS })).seq;
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE) {
          // An earlier attempt may have arrived without its answer having come back.
          const seq = await this.#seqOf(subject, piece);
          if (seq !== undefined) return seq;
          throw new Overtaken();
        }
        if (performance.now() > until) throw unreachable("do not take what was said", error);
        await pause(250);
      }
    }
  }

  async #seqOf(subject: string, piece: Piece): Promise<number | undefined> {
    const found = await this.#get({ last_by_subj: subject });
    if (found === null) return undefined;
    const last = await this.#open(subject, found.data);
    return last.uid === piece.uid && last.left === piece.left ? found.seq : undefined;
  }
}

function piecesOf(bytes: Buffer): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += LARGEST_PIECE)
    pieces.push(bytes.subarray(at, at + LARGEST_PIECE));
  return pieces;
}

function unreachable(what: string, error: unknown): HermesError {
  return new HermesError(
    failure(
      "unavailable",
      `the NATS servers of the cluster ${what}: ${describeThrown(error).message}`,
      "Nothing goes on without them: what is not there when this machine dies would be lost.",
    ),
  );
}
