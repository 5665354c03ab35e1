import { readSync, writeSync } from "node:fs";
import type { OnReadOpts, SocketConstructorOpts } from "node:net";
import { setTimeout as delay, setImmediate as nextRound } from "node:timers/promises";
import { ReadStream } from "node:tty";
import { errnoOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";

const READ_BYTES = 65_536;
const WRITE_BYTES = 4_096;
/** Writes go on without a pause up to here, so that one large write does not hold up everything else. */
const BYTES_PER_ROUND = 65_536;
const FIRST_RETRY_MS = 2;
const LONGEST_RETRY_MS = 50;
const NO_PROGRESS_MS = 10_000;
const REREAD_MS = 5;
const MAX_REREADS = 10;
const DRAIN_STEP_MS = 20;
const QUIET_STEPS = 5;
const MAX_DRAIN_STEPS = 50;

/** The runtime's side of one terminal: reads what the program prints and types what it is to read. */
export class TerminalMaster {
  readonly #descriptor: number;
  readonly #stream: ReadStream;
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES);
  readonly #deliver: (bytes: Uint8Array) => void;
  readonly #closed: Promise<void>;
  #open = true;
  #paused = false;
  #readSteps = 0;
  /** Writes keep their order. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(descriptor: number, onOutput: (bytes: Uint8Array) => void) {
    this.#descriptor = descriptor;
    this.#deliver = (bytes) => {
      this.#readSteps += 1;
      try {
        onOutput(bytes);
      } catch {
        // A listener that fails must not end the program it listens to.
      }
    };
    // With a buffer of our own nothing is read ahead while paused; what the program prints last stays in the
    // kernel then. A stream would drop what it has read ahead when the program ends.
    const onread: OnReadOpts = {
      buffer: this.#buffer,
      callback: (length) => {
        this.#deliver(new Uint8Array(this.#buffer.subarray(0, length)));
        // A stream that has just been started goes on reading once although it was paused.
        return !this.#paused;
      },
    };
    const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = { onread, allowHalfOpen: true };
    this.#stream = new ReadStream(descriptor, options);
    // The last program in a terminal ends it: EIO is how that is told.
    this.#stream.on("error", () => {});
    this.#stream.once("end", () => void this.#readRest());
    this.#closed = new Promise((resolve) => {
      this.#stream.once("close", () => {
        this.#open = false;
        resolve();
      });
    });
    this.#stream.resume();
  }

  /**
   * Node takes a hangup together with a buffer that is not full for the end, but a terminal gives at most
   * 4,095 bytes at a time and may hold some 64 KiB.
   */
  async #readRest(): Promise<void> {
    for (let retries = 0; this.#open && retries < MAX_REREADS; ) {
      try {
        const length = readSync(this.#descriptor, this.#buffer);
        if (length === 0) break;
        this.#deliver(new Uint8Array(this.#buffer.subarray(0, length)));
      } catch (error) {
        if (errnoOf(error) !== "EAGAIN") break;
        // Somebody (`stty`) has the terminal open for a moment.
        retries += 1;
        await delay(REREAD_MS);
      }
    }
    await this.close();
  }

  get open(): boolean {
    return this.#open;
  }

  pause(paused: boolean): void {
    if (paused === this.#paused || !this.#open) return;
    this.#paused = paused;
    if (paused) this.#stream.pause();
    else this.#stream.resume();
  }

  /** Resolves when the terminal has taken all of it; the terminal holds some 64 KiB that nobody has read. */
  write(bytes: Uint8Array): Promise<void> {
    const mine = this.#lastWrite.then(() => this.#writeAll(bytes));
    this.#lastWrite = mine.catch(() => {});
    return mine;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    let taken = 0;
    let wait = FIRST_RETRY_MS;
    let waited = 0;
    for (let roundEnd = BYTES_PER_ROUND; taken < bytes.length; ) {
      if (!this.#open) throw hasEnded(bytes.length - taken);
      const count = this.#writeSome(bytes.subarray(taken, taken + WRITE_BYTES));
      taken += count;
      if (count > 0) {
        wait = FIRST_RETRY_MS;
        waited = 0;
        if (taken >= roundEnd) {
          roundEnd = taken + BYTES_PER_ROUND;
          await nextRound();
        }
        continue;
      }
      if (waited >= NO_PROGRESS_MS) throw doesNotRead(taken, bytes.length);
      await delay(wait);
      waited += wait;
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    }
  }

  /** Written at once and not by a thread: a descriptor that is closed meanwhile may soon be another file. */
  #writeSome(bytes: Uint8Array): number {
    try {
      return writeSync(this.#descriptor, bytes);
    } catch (error) {
      if (errnoOf(error) === "EAGAIN") return 0;
      throw hasEnded(bytes.length);
    }
  }

  /**
   * Resolves when everything the ended program has printed was read. What it left running may hold the
   * terminal open or print for ever, so quiet is enough, and so is a second of reading. Counted in rounds of
   * the event loop, each of which reads: a busy moment elsewhere is not quiet.
   */
  async drained(): Promise<void> {
    let seen = this.#readSteps;
    for (let steps = 0, quiet = 0; this.#open && quiet < QUIET_STEPS && steps < MAX_DRAIN_STEPS; ) {
      await Promise.race([this.#closed, delay(DRAIN_STEP_MS)]);
      if (this.#paused) continue;
      steps += 1;
      quiet = seen === this.#readSteps ? quiet + 1 : 0;
      seen = this.#readSteps;
    }
  }

  /** Hangs up: what is still in the terminal is told so by the system. */
  close(): Promise<void> {
    this.#open = false;
    this.#stream.destroy();
    return this.#closed;
  }
}

function hasEnded(left: number): ToolError {
  return new ToolError(`The program has ended; ${left} bytes of input did not reach it.`, {
    hint: "Look at its output and exit code, and start it again if it is still needed.",
  });
}

function doesNotRead(taken: number, total: number): ToolError {
  return new ToolError(
    `The program does not read its input: after ${NO_PROGRESS_MS / 1000} s the terminal had taken ${taken} of ${total} bytes.`,
    { hint: "Look at its screen; write the rest when it waits for input." },
  );
}
