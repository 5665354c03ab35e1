import { randomUUID } from "node:crypto";
import { type ObjectStore, Objm } from "@nats-io/obj";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import type { ClusterSettings } from "./bus.js";
import { LIFE_MS, markOf, type Opened, Seal } from "./seal.js";

/** A NATS server takes a megabyte at the most, with headers; what is larger goes through its object store. */
const LARGEST_MESSAGE = 512 * 1024;
/**
 * What is large is worth nothing once the message about it is too old. Nothing is deleted before: NATS up to 2.9 goes on
 * counting what is purged by subject, until it has no room left on paper and gives up its JetStream.
 */
const LARGE_MS = LIFE_MS + 30_000;

/** Where the large part of a message lies, and which it is. */
interface Aside {
  readonly aside: string;
  readonly mark: string;
}

/** Messages as they travel: signed, and what is too large for one lies in the object store. */
export class SealedMessages {
  readonly #connection: NatsConnection;
  readonly #settings: ClusterSettings;
  readonly #seal: Seal;
  #store: Promise<ObjectStore> | undefined;

  constructor(connection: NatsConnection, settings: ClusterSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#seal = new Seal(settings.key);
  }

  /** However large it is. */
  seal(subject: string, body: unknown): Uint8Array {
    return this.#seal.seal(subject, body);
  }

  /** For what lies in a table until somebody reads it. */
  sealLasting(subject: string, body: unknown): Uint8Array {
    return this.#seal.seal(subject, body, { lasting: true });
  }

  fits(sealed: Uint8Array): boolean {
    return sealed.length <= LARGEST_MESSAGE;
  }

  async pack(subject: string, body: unknown): Promise<Uint8Array> {
    const sealed = this.seal(subject, body);
    return this.fits(sealed) ? sealed : this.putAside(subject, sealed);
  }

  /** Puts it into the object store; what says where goes in its place. */
  async putAside(subject: string, sealed: Uint8Array): Promise<Uint8Array> {
    const name = randomUUID();
    await (await this.#objects()).putBlob({ name }, sealed);
    return this.seal(subject, { aside: name, mark: markOf(sealed) } satisfies Aside);
  }

  /** At once, unless a large part has to be fetched. */
  open(subject: string, data: Uint8Array): Opened | Promise<Opened> {
    const opened = this.#seal.open(subject, data);
    return isAside(opened.body) ? this.#fetch(subject, opened.body) : opened;
  }

  /** Also what is too old to be acted upon. */
  openAnyAge(subject: string, data: Uint8Array): Opened | Promise<Opened> {
    const opened = this.#seal.openAnyAge(subject, data);
    return isAside(opened.body) ? this.#fetch(subject, opened.body) : opened;
  }

  async #fetch(subject: string, { aside, mark }: Aside): Promise<Opened> {
    const sealed = await (await this.#objects()).getBlob(aside);
    if (sealed === null) throw new Error("its large part is no longer in the object store");
    // Signed it is for itself; it is to be this message's part, and not that of an earlier one.
    if (markOf(sealed) !== mark) throw new Error("its large part is that of another message");
    return this.#seal.openAnyAge(subject, sealed);
  }

  #objects(): Promise<ObjectStore> {
    this.#store ??= new Objm(this.#connection)
      .create(`${this.#settings.name}_large`, { replicas: this.#settings.replicas, ttl: nanos(LARGE_MS) })
      .catch((error: unknown) => {
        this.#store = undefined;
        throw error;
      });
    return this.#store;
  }
}

/** Where the answer to a message is signed for: that to another one is none to this. */
export function answerTo(subject: string, asked: Uint8Array): string {
  return `${subject}.answer.${markOf(asked)}`;
}

function isAside(body: unknown): body is Aside {
  return typeof body === "object" && body !== null && "aside" in body && typeof body.aside === "string";
}
