const MARK = 0x1e;

/**
 * Finds a program's own output between two marks that nothing else prints: `<RS>word+<RS>` before it and
 * `<RS>word3<RS>` after it, where 3 is the exit code.
 */
export class MarkedOutput {
  /** Resolves with the first mark, or when there will be none. */
  readonly begun: Promise<void>;
  readonly #word: string;
  #begin: () => void = () => {};
  #hasBegun = false;
  #kept: Buffer = Buffer.alloc(0);

  constructor(word: string) {
    this.#word = word;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  /** The program's bytes among these, and its exit code when it is over. */
  take(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly exitCode?: number } {
    this.#kept = Buffer.concat([this.#kept, bytes]);
    if (!this.#hasBegun && !this.#skipToBegin()) return { bytes: new Uint8Array() };
    const end = this.#kept.indexOf(`\u001e${this.#word}`);
    const close = end === -1 ? -1 : this.#kept.indexOf(MARK, end + 1);
    if (close !== -1) {
      const exitCode = Number(this.#kept.subarray(end + 1 + this.#word.length, close).toString());
      return { bytes: this.#give(end), exitCode };
    }
    return { bytes: this.#give(this.#couldBeMark(end)) };
  }

  over(): void {
    this.#begin();
  }

  #skipToBegin(): boolean {
    const begin = `\u001e${this.#word}+\u001e`;
    const at = this.#kept.indexOf(begin);
    if (at === -1) return false;
    this.#kept = this.#kept.subarray(at + begin.length);
    this.#hasBegun = true;
    this.#begin();
    return true;
  }

  /** Where a mark may begin whose rest has not arrived yet. */
  #couldBeMark(end: number): number {
    if (end !== -1) return end;
    const last = this.#kept.lastIndexOf(MARK);
    const isBeginning =
      last !== -1 && this.#word.startsWith(this.#kept.subarray(last + 1).toString("latin1"));
    return isBeginning ? last : this.#kept.length;
  }

  #give(upTo: number): Uint8Array {
    const given = this.#kept.subarray(0, upTo);
    this.#kept = this.#kept.subarray(upTo);
    return given;
  }
}
