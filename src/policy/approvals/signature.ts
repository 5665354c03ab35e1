import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.js";
import { sha256 } from "../../base/hash.js";
import type { ApprovalReply } from "../../call/scope.js";

export interface SignedQuestion {
  readonly id: string;
  readonly tool: string;
  readonly hash: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The process that asked: as long as it lives, nobody else may run the call. */
  readonly owner: string;
  readonly audience: readonly string[] | undefined;
  /** The text a person is shown, as it is stored. */
  readonly shown: string;
  readonly callDigest: string;
}

/** An answer as it is stored: what was said, by whom, when. */
export interface SignedAnswer extends ApprovalReply {
  readonly by: string;
  readonly at: number;
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Signs with a key that only this Hermes home has: who can write to the database, or sends a record back from
 * outside, still cannot make up a question or an answer.
 */
export class ApprovalSigner {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  question(question: SignedQuestion): string {
    const { id, tool, hash: binding, createdAt, expiresAt, owner, shown, callDigest } = question;
    const { audience = null } = question;
    return this.#sign([
      "question",
      id,
      tool,
      binding,
      createdAt,
      expiresAt,
      owner,
      audience,
      digest(shown),
      callDigest,
    ]);
  }

  answer(question: { readonly id: string; readonly hash: string }, answer: SignedAnswer): string {
    return this.#sign(["answer", question.id, question.hash, answer]);
  }

  /** Takes the place of the answer's signature when the answer is used, so that it cannot be used again. */
  used(question: { readonly id: string; readonly hash: string }, answer: SignedAnswer): string {
    return this.#sign(["used", question.id, question.hash, answer]);
  }

  /**
   * Arguments are stored as they are, secrets included. Once a question is settled they are erased, but a
   * database keeps old bytes in its log and its free pages: without the key nobody reads them there.
   */
  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealKey(), nonce);
    return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
      "base64",
    );
  }

  /** Throws for what was not sealed with this key. */
  unseal(sealed: string): string {
    const bytes = Buffer.from(sealed, "base64");
    const decipher = createDecipheriv(CIPHER, this.#sealKey(), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  }

  #sealKey(): Buffer {
    return createHmac("sha256", this.#key).update("stored calls").digest();
  }

  #sign(parts: readonly unknown[]): string {
    return createHmac("sha256", this.#key).update(canonicalJson(parts)).digest("base64url");
  }
}

export function digest(text: string): string {
  return sha256(text);
}

export function sameSignature(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
