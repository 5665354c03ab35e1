import type { Kept } from "../tool/tool.js";

/** What tools keep for the later calls of one session, one object per class. */
export class SessionState {
  readonly #things = new Map<new () => Kept, Kept>();
  readonly #onClose: () => void;
  #closing: Promise<void> | undefined;

  constructor(onClose: () => void = () => undefined) {
    this.#onClose = onClose;
  }

  keep<T extends Kept>(kind: new () => T): T {
    if (this.#closing !== undefined) throw new Error("the session is closed");
    const known = this.#things.get(kind);
    if (known !== undefined) return known as T;
    const made = new kind();
    this.#things.set(kind, made);
    return made;
  }

  /** Never rejects: one thing that cannot be closed must not keep the others open. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(
      [...this.#things.values()].map(async (thing) => await thing.close()),
    ).then(this.#onClose);
    return this.#closing;
  }
}
