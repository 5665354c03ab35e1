import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { deserialize, serialize } from "node:v8";

const MAC_BYTES = 32;
/** Long enough for a queue and for clocks that differ, short enough that an old message is worth nothing. */
export const LIFE_MS = 120_000;
/** How much clocks may differ before somebody is told. */
export const CLOCKS_MS = 60_000;

interface Sealed {
  readonly subject: string;
  readonly expires: number;
  readonly body: unknown;
}

export interface Opened {
  readonly body: unknown;
  /** How long its time has been over; 0 while it is not. */
  readonly lateMs: number;
  /** How far in the future it was written, by this machine's clock; 0 when it was not. */
  readonly earlyMs: number;
}

/** What tells a message from every other one. */
export function markOf(message: Uint8Array): string {
  return Buffer.from(message.subarray(0, MAC_BYTES)).toString("base64url");
}

export function pastItsTime(lateMs: number): string {
  return `its time was over ${Math.ceil(lateMs / 1000)} s ago`;
}

/** A message that does not carry the secret of the cluster, or not for this subject, or no longer. */
export class SealError extends Error {
  override readonly name = "SealError";
}

/**
 * Signs what machines of a cluster tell each other. Whoever reaches the NATS servers without the secret can read
 * messages, delay and repeat them; it can neither make nor change nor redirect one.
 */
export class Seal {
  readonly #key: KeyObject;

  constructor(key: string) {
    this.#key = createSecretKey(key, "utf8");
  }

  /** `lasting`: for what lies in a table until somebody reads it. */
  seal(subject: string, body: unknown, { lasting = false } = {}): Uint8Array {
    const expires = lasting ? Number.POSITIVE_INFINITY : Date.now() + LIFE_MS;
    const sealed: Sealed = { subject, expires, body };
    const bytes = serialize(sealed);
    return Buffer.concat([this.#mac(bytes), bytes]);
  }

  open(subject: string, message: Uint8Array): Opened {
    const opened = this.openAnyAge(subject, message);
    if (opened.lateMs > 0)
      throw new SealError(`${pastItsTime(opened.lateMs)}; do the clocks of the machines agree?`);
    return opened;
  }

  /** Also what is too old to be acted upon, for whoever has to say so. */
  openAnyAge(subject: string, message: Uint8Array): Opened {
    const bytes = message.subarray(MAC_BYTES);
    if (message.length <= MAC_BYTES || !timingSafeEqual(message.subarray(0, MAC_BYTES), this.#mac(bytes)))
      throw new SealError("it is not signed with the secret of this cluster (HERMES_CLUSTER_KEY)");
    const sealed = deserialize(bytes) as Sealed;
    if (sealed.subject !== subject) throw new SealError(`it was written for ${sealed.subject}`);
    const lateMs = Date.now() - sealed.expires;
    return { body: sealed.body, lateMs: Math.max(0, lateMs), earlyMs: Math.max(0, -lateMs - LIFE_MS) };
  }

  #mac(bytes: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(bytes).digest();
  }
}
