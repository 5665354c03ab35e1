import type { Runtime } from "./runtime.js";
import type { Session, SessionOptions } from "./session.js";

/**
 * A session that keeps up with the registry. Its tools are fixed when it opens; when some were added or changed, the
 * next request gets a new one that goes on for the old one.
 */
export class RenewedSession {
  readonly #runtime: Runtime;
  readonly #options: SessionOptions;
  #opening: Promise<Session> | undefined;
  #generation = -1;
  #latest: Session | undefined;
  #closed = false;

  constructor(runtime: Runtime, options: SessionOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  current(): Promise<Session> {
    const { generation } = this.#runtime.registry;
    if (this.#opening === undefined || generation !== this.#generation) {
      this.#generation = generation;
      const opening = this.#open(this.#opening);
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  /** The one that was opened last, if one was. */
  get latest(): Session | undefined {
    return this.#latest;
  }

  /** What it has running in the background ends with it. */
  close(): void {
    this.#closed = true;
    this.#latest?.close();
  }

  /** One after the other, so that each goes on for the one before. */
  async #open(previous: Promise<Session> | undefined): Promise<Session> {
    await previous?.catch(() => undefined);
    const session = await this.#runtime.openSession({ ...this.#options, continues: this.#latest });
    this.#latest = session;
    if (this.#closed) session.close();
    return session;
  }
}
