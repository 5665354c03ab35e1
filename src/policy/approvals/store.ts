import { canonicalJson } from "../../base/canonical-json.js";
import type { ApprovalReply, ApprovalRequest } from "../../call/scope.js";
import type { Logger } from "../../observe/log.js";
import type { SqlRow, Statement } from "../../store/driver.js";
import { isOwnerAlive, newOwnerId } from "../../store/process-owner.js";
import type { Store } from "../../store/store.js";
import { type ApprovalRecord, shownQuestion, storedCall } from "./record.js";
import {
  expired,
  noRoom,
  type Refused,
  unknownId,
  wrongHash,
  wrongPerson,
  wrongSignature,
  wrongStatus,
} from "./refusal.js";
import { APPROVAL_COLUMNS, approvalRoom, decodeApproval, ROW_BYTES } from "./rows.js";
import { type ApprovalSigner, digest, type SignedAnswer, sameSignature } from "./signature.js";
import { ApprovalWatch } from "./watch.js";

export interface GivenAnswer extends ApprovalReply {
  readonly id: string;
  /** What the person saw; an answer to anything else does not count. */
  readonly hash: string;
  readonly by: string;
  /** As it left the process with the question, when the answer comes from outside. */
  readonly signature?: string | undefined;
}

/** A settled question is kept so long for people to look at. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** A yes that was never used goes with the arguments: with it, a changed row could be used after all. */
const FORGOTTEN = "call = NULL, answer = NULL, answer_signature = NULL";

/** How much may be added, as a part of all the room, before it is looked at again. */
const UNSEEN_PART = 1 / 16;

/** The countdown runs on another clock than the time of day. */
const CLOCKS_APART_MS = 50;

/**
 * Questions that wait for somebody's answer. What is asked of it is told from what is known here; what changes
 * something is acknowledged when it cannot be lost any more.
 */
export interface ApprovalStore {
  add(
    request: ApprovalRequest,
    options: { readonly redact: (text: string) => string; readonly audience?: readonly string[] | undefined },
  ): Promise<ApprovalRecord | Refused>;
  find(id: string): ApprovalRecord | undefined;
  /** Newest first; only what can still be answered or run, unless all are wanted. */
  list(options?: { readonly all?: boolean }): readonly ApprovalRecord[];
  isOwnerAlive(record: ApprovalRecord): boolean;
  /** The record as it is after the answer, or why the answer changed nothing. */
  answer(given: GivenAnswer): Promise<ApprovalRecord | Refused>;
  /** Uses an approval up. Exactly one caller ever gets the record; to all others it says why not. */
  consume(used: Pick<GivenAnswer, "id" | "hash">): Promise<ApprovalRecord | Refused>;
  /** The asker no longer waits: whatever was answered in the last moment is not used either. */
  withdraw(id: string): Promise<ApprovalRecord | undefined>;
  /** Calls back once the question is no longer pending, wherever it was answered. */
  watch(id: string, answered: () => void): () => void;
  /** Ends the questions asked from here: nobody waits for their answers any more. */
  close(): Promise<void>;
}

/**
 * The questions of every process of one Hermes home. Each change is one conditional UPDATE, so that of two
 * answers, or two attempts to use one, exactly one counts; it is acknowledged when it is on the disk.
 */
export class SqliteApprovals implements ApprovalStore {
  readonly #store: Store;
  readonly #signer: ApprovalSigner;
  readonly #log: Logger;
  readonly #owner = newOwnerId();
  readonly #watch: ApprovalWatch;
  readonly #reported = new Set<string>();
  readonly #adding = new Set<Promise<void>>();
  readonly #maxBytes: number;
  #unseenBytes = Number.POSITIVE_INFINITY;
  #closing: Promise<void> | undefined;
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #settle: Statement;

  constructor(parts: {
    readonly store: Store;
    readonly signer: ApprovalSigner;
    readonly log: Logger;
    readonly maxBytes: number;
  }) {
    this.#maxBytes = parts.maxBytes;
    this.#store = parts.store;
    this.#signer = parts.signer;
    this.#log = parts.log;
    const { db } = parts.store;
    this.#insert = db.prepare(
      `INSERT INTO approvals (id, hash, tool, created_at, expires_at, owner, status, audience, shown, call,
         call_digest, signature)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#find = db.prepare(`SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE id = ?`);
    this.#settle = db.prepare(
      `UPDATE approvals SET status = ?, ${FORGOTTEN} WHERE id = ? AND status IN ('pending', 'approved')`,
    );
    const statusOf = db.prepare("SELECT status FROM approvals WHERE id = ?");
    this.#watch = new ApprovalWatch((id) => statusOf.get(id)?.status !== "pending");
    this.#sweep();
  }

  /** Resolves when the question is on the disk. */
  async add(
    request: ApprovalRequest,
    options: { readonly redact: (text: string) => string; readonly audience?: readonly string[] | undefined },
  ): Promise<ApprovalRecord | Refused> {
    const { id, hash, tool, expiresAt } = request;
    const { audience } = options;
    const createdAt = Date.now();
    const question = shownQuestion(request, options.redact);
    const shown = canonicalJson(question);
    const call = canonicalJson(storedCall(request));
    if (!this.#hasRoom(shown.length + call.length)) return noRoom(this.#maxBytes);
    const callDigest = digest(call);
    const owner = this.#owner;
    const signed = { id, tool, hash, createdAt, expiresAt, owner, audience, shown, callDigest };
    const signature = this.#signer.question(signed);
    const audienceText = audience === undefined ? null : canonicalJson(audience);
    const values = [id, hash, tool, createdAt, expiresAt, owner, "pending", audienceText, shown];
    this.#insert.run(...values, this.#signer.seal(call), callDigest, signature);
    await this.#syncAdded();
    return {
      ...{ id, hash, tool, createdAt, expiresAt, owner, status: "pending" },
      ...(audience !== undefined && { audience }),
      shown: question,
      signature,
    };
  }

  find(id: string): ApprovalRecord | undefined {
    const row = this.#find.get(id);
    return row === undefined ? undefined : this.#decode(row);
  }

  list({ all = false }: { readonly all?: boolean } = {}): readonly ApprovalRecord[] {
    this.#sweep();
    const open = all ? "" : "WHERE status IN ('pending', 'approved')";
    return this.#store.db
      .prepare(`SELECT ${APPROVAL_COLUMNS} FROM approvals ${open} ORDER BY created_at DESC, id LIMIT 1000`)
      .all()
      .flatMap((row) => this.#decode(row) ?? []);
  }

  isOwnerAlive(record: ApprovalRecord): boolean {
    return isOwnerAlive(record.owner);
  }

  async answer(given: GivenAnswer): Promise<ApprovalRecord | Refused> {
    const { id, hash, by, reason } = given;
    const record = this.find(id);
    const refused = record === undefined ? unknownId(id) : refusalOf(record, given);
    if (refused !== undefined) return refused;
    const answer: SignedAnswer = {
      answer: given.answer,
      by,
      at: Date.now(),
      ...(reason !== undefined && { reason }),
      ...(given.widen === true && { widen: true }),
    };
    const status = given.answer === "deny" ? "denied" : "approved";
    const sealed = [canonicalJson(answer), this.#signer.answer({ id, hash }, answer)];
    const { changes } = this.#store.db
      .prepare(
        `UPDATE approvals
         SET status = ?1, answer = ?2, answer_signature = ?3, call = iif(?1 = 'denied', NULL, call)
         WHERE id = ?4 AND hash = ?5 AND status = 'pending' AND expires_at > ?6`,
      )
      .run(status, ...sealed, id, hash, answer.at);
    if (changes === 0) return this.#whyUnchanged(id);
    // Before the sync: meanwhile the call that waits may find the answer and use it up.
    const answered = this.find(id);
    await this.#store.syncWal();
    this.#watch.wake(id);
    return answered ?? unknownId(id);
  }

  async consume({ id, hash }: Pick<GivenAnswer, "id" | "hash">): Promise<ApprovalRecord | Refused> {
    const record = this.find(id);
    if (record === undefined) return unknownId(id);
    if (record.hash !== hash) return wrongHash(id);
    if (record.answer === undefined) return this.#whyUnchanged(id);
    const { changes } = this.#store.db
      .prepare(
        `UPDATE approvals SET status = 'consumed', call = NULL, answer_signature = ?
         WHERE id = ? AND hash = ? AND status = 'approved' AND expires_at > ?`,
      )
      .run(this.#signer.used({ id, hash }, record.answer), id, hash, Date.now());
    if (changes === 0) return this.#whyUnchanged(id);
    await this.#store.syncWal();
    // Read once more: the seal of the answer that was used must fit, not that of an earlier look.
    const used = this.find(id);
    return used?.answer === undefined ? unknownId(id) : used;
  }

  async withdraw(id: string): Promise<ApprovalRecord | undefined> {
    const record = this.find(id);
    const late = record !== undefined && record.expiresAt <= Date.now() + CLOCKS_APART_MS;
    const status = late ? "expired" : "denied";
    this.#settle.run(status, id);
    await this.#store.syncWal();
    return this.find(id);
  }

  watch(id: string, answered: () => void): () => void {
    return this.#watch.add(id, answered);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#store.db
      .prepare(
        `UPDATE approvals SET status = 'denied', ${FORGOTTEN}
         WHERE owner = ? AND status IN ('pending', 'approved')`,
      )
      .run(this.#owner);
    this.#watch.close();
    await Promise.allSettled(this.#adding);
    // Those who waited look at the outcome once more.
    await new Promise(setImmediate);
    await this.#store.close();
  }

  async #syncAdded(): Promise<void> {
    const synced = this.#store.syncWal();
    this.#adding.add(synced);
    try {
      await synced;
    } finally {
      this.#adding.delete(synced);
    }
  }

  /** What nobody answered or used in time is over, and its arguments are forgotten. */
  #sweep(): void {
    const { db } = this.#store;
    const now = Date.now();
    db.prepare(
      `UPDATE approvals SET status = 'expired', ${FORGOTTEN}
       WHERE status IN ('pending', 'approved') AND expires_at <= ?`,
    ).run(now);
    db.prepare("DELETE FROM approvals WHERE expires_at < ? AND status NOT IN ('pending', 'approved')").run(
      now - KEPT_MS,
    );
  }

  /** Settled questions make room for one more, the oldest first; those that wait do not. */
  #hasRoom(bytes: number): boolean {
    this.#unseenBytes += bytes;
    if (this.#unseenBytes <= this.#maxBytes * UNSEEN_PART) return true;
    const { db } = this.#store;
    const room = this.#maxBytes - bytes;
    db.prepare(
      `DELETE FROM approvals WHERE id IN (
         SELECT id FROM (
           SELECT id, status, sum(${ROW_BYTES}) OVER (ORDER BY status IN ('pending', 'approved') DESC, created_at DESC, id) AS total
           FROM approvals) WHERE total > ? AND status NOT IN ('pending', 'approved'))`,
    ).run(room);
    const { bytes: left } = approvalRoom(this.#store);
    if (left > room) return false;
    this.#unseenBytes = 0;
    return true;
  }

  #whyUnchanged(id: string): Refused {
    const record = this.find(id);
    if (record === undefined) return unknownId(id);
    return isOver(record) ? expired(record) : wrongStatus(record);
  }

  #decode(row: SqlRow): ApprovalRecord | undefined {
    const record = decodeApproval(row, this.#signer);
    if (record === undefined) this.#report(row);
    return record;
  }

  #report(row: SqlRow): void {
    const id = Buffer.from(row.id instanceof Uint8Array ? row.id : String(row.id)).toString();
    if (this.#reported.has(id)) return;
    this.#reported.add(id);
    this.#log.error(
      `the approval ${JSON.stringify(id.slice(0, 80))} is ignored: its signature does not fit, so it was damaged or not written by Hermes`,
    );
  }
}

function isOver({ status, expiresAt }: ApprovalRecord): boolean {
  return status === "expired" || ((status === "pending" || status === "approved") && expiresAt <= Date.now());
}

function refusalOf(record: ApprovalRecord, given: GivenAnswer): Refused | undefined {
  const { id, hash, signature, audience } = record;
  if (given.hash !== hash) return wrongHash(id);
  if (given.signature !== undefined && !sameSignature(given.signature, signature)) return wrongSignature(id);
  if (audience !== undefined && !audience.some((name) => covers(name, given.by)))
    return wrongPerson(id, given.by);
  if (isOver(record)) return expired(record);
  return record.status === "pending" ? undefined : wrongStatus(record);
}

/** "telegram:42" is one person, "cli" is everybody at this machine. */
function covers(name: string, by: string): boolean {
  return by === name || (!name.includes(":") && by.startsWith(`${name}:`));
}
