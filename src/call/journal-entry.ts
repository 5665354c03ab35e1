import type { CallIntent, CallOutcome, JournalEntry } from "./journal.js";
import { documentOf, isShortResult, sealIntent, sealOutcome } from "./journal-rows.js";

export const neverStartedOutcome: CallOutcome = {
  status: "blocked",
  state: "not_started",
  errorCode: "internal",
  errorMessage: "not started, because the journal could not be written",
  durationMs: 0,
  resultChars: 0,
  resultHash: "",
  truncated: false,
};

interface KeptResult {
  readonly hash: string;
  readonly text: string;
}

/** What is awaited is made text at once, so that a value that has none fails its own call and not the group. */
export class Entry implements JournalEntry {
  seq: number | undefined;
  /** True while it waits in a group. */
  queued = false;
  readonly #intent: CallIntent;
  readonly #keepsResult: boolean;
  readonly #onEnd: (entry: Entry, awaited: boolean) => Promise<void>;
  #outcome: (() => CallOutcome) | undefined;
  #sealedIntent: string | undefined;
  #sealedOutcome: string | undefined;
  #result: KeptResult | undefined;
  #ended: Promise<void> | undefined;

  constructor(
    intent: CallIntent,
    options: {
      readonly keepsResult: boolean;
      readonly onEnd: (entry: Entry, awaited: boolean) => Promise<void>;
    },
  ) {
    this.#intent = intent;
    this.#keepsResult = options.keepsResult;
    this.#onEnd = options.onEnd;
  }

  get hasEnded(): boolean {
    return this.#sealedOutcome !== undefined || this.#outcome !== undefined;
  }

  end(outcome: CallOutcome): Promise<void> {
    if (this.#ended !== undefined) return this.#ended;
    this.sealOutcome(outcome);
    this.#ended = this.#onEnd(this, true);
    return this.#ended;
  }

  endSoon(outcome: () => CallOutcome): void {
    if (this.#ended !== undefined) return;
    this.#outcome = outcome;
    this.#ended = this.#onEnd(this, false);
  }

  sealOutcome(outcome: CallOutcome): void {
    const { result: text = "", resultHash: hash } = outcome;
    const kept = this.#keepsResult && text !== "" ? text : undefined;
    const isShort = kept !== undefined && isShortResult(kept);
    this.#sealedOutcome = sealOutcome(outcome, isShort ? kept : undefined);
    this.#result = kept === undefined || isShort ? undefined : { hash, text: kept };
  }

  /** What goes into the store of results, beside the document. */
  get result(): KeptResult | undefined {
    this.seal();
    return this.#result;
  }

  /** Makes the texts that are not made yet. */
  seal(): string {
    this.#sealedIntent ??= sealIntent(this.#intent);
    if (this.#outcome !== undefined && this.#sealedOutcome === undefined) this.#sealLater(this.#outcome);
    return this.#sealedIntent;
  }

  /** Nobody is there any more to be told that an outcome cannot be written down. */
  #sealLater(outcome: () => CallOutcome): void {
    try {
      this.sealOutcome(outcome());
    } catch (error) {
      this.sealOutcome({
        ...neverStartedOutcome,
        status: "error",
        state: "partial",
        errorMessage: String(error),
      });
    }
  }

  document(): string {
    return documentOf(this.seal(), this.#sealedOutcome);
  }
}
