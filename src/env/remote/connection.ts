import { randomUUID } from "node:crypto";
import { EXEC_MARK, RUNTIME_MARK } from "../local/marks.js";
import { endThere, RuntimeWatcher } from "./end-trees.js";
import { type Probe, probe } from "./probe.js";
import type { RemoteEnvironmentOptions } from "./remote-environment.js";
import { closedError, lostWhileWorking } from "./remote-error.js";
import type { Transport } from "./transport.js";

/** A connection that was lost a moment ago must not make a list of marks that grows for ever. */
const MAX_LOST_MARKS = 1_000;

/** What is known about the other side, for as long as the transport holds. */
export class Connection {
  readonly name: string;
  readonly transport: Transport;
  /** Carried by everything that is started here. */
  readonly mark = randomUUID();
  readonly #options: RemoteEnvironmentOptions;
  readonly #watcher: RuntimeWatcher | undefined;
  #probing: Promise<Probe> | undefined;
  #connecting = false;
  #last: Probe | undefined;
  #stale = false;
  #closed = false;
  #used = false;
  /** Commands whose fate is unknown; ended before the next one runs. */
  readonly #lostMarks = new Set<string>();

  constructor(options: RemoteEnvironmentOptions) {
    this.name = options.name;
    this.transport = options.transport;
    this.#options = options;
    this.#watcher =
      options.endWithRuntime === true ? new RuntimeWatcher(options.transport, this.mark) : undefined;
  }

  /** Connected, looked around, and rid of what an earlier connection left behind. */
  ready(): Promise<Probe> {
    if (this.#closed) return Promise.reject(closedError(this.name));
    const isGood = !this.#stale && this.transport.broken !== true;
    if (this.#probing !== undefined && (this.#connecting || isGood)) return this.#probing;
    this.#stale = false;
    this.#connecting = true;
    this.#probing = this.#connect();
    this.#probing.then(
      () => {
        this.#connecting = false;
      },
      () => {
        this.#connecting = false;
        this.#probing = undefined;
      },
    );
    return this.#probing;
  }

  /** What was seen last, also when the connection is lost by now. */
  get last(): Probe | undefined {
    return this.#last;
  }

  get closed(): boolean {
    return this.#closed;
  }

  noteUse(): void {
    this.#used = true;
    this.#watcher?.hold();
  }

  noteLost(why: string, mark?: string): void {
    this.#stale = true;
    if (mark !== undefined && this.#lostMarks.size < MAX_LOST_MARKS) this.#lostMarks.add(mark);
    this.#options.onLost?.(why);
  }

  close(): void {
    this.#closed = true;
  }

  /** Ends whatever was started here and still runs, also what its command left behind. */
  async endAll(): Promise<void> {
    if (!this.#used) return;
    this.#used = false;
    try {
      await this.#endMarked();
    } finally {
      await this.#watcher?.release();
    }
  }

  async #endMarked(): Promise<void> {
    await endThere({ transport: this.transport, marks: [`${RUNTIME_MARK}=${this.mark}`], wrappers: [] });
  }

  async #connect(): Promise<Probe> {
    const found = await probe({
      name: this.name,
      transport: this.transport,
      loginShell: this.#options.loginShell,
      passthrough: this.#options.passthrough ?? {},
      loginLimitMs: this.#options.loginLimitMs,
    });
    if (found.leftMark !== undefined) this.#lostMarks.add(found.leftMark);
    await this.#sweep();
    this.#last = found;
    return found;
  }

  async #sweep(): Promise<void> {
    const marks = [...this.#lostMarks];
    if (marks.length === 0) return;
    // Without the wrappers' numbers: they may belong to others by now.
    const end = await endThere({
      transport: this.transport,
      marks: marks.map((mark) => `${EXEC_MARK}=${mark}`),
      wrappers: [],
    });
    if ("lost" in end) throw lostWhileWorking(this.name, end.lost);
    for (const mark of marks) this.#lostMarks.delete(mark);
  }
}
