import { randomBytes } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.js";
import type { Progress } from "../../tool/tool.js";
import type { AskClient, Question, RawAnswer } from "./questions.js";

/** How many calls may wait for their client to come back; one more and the oldest is given up. */
const MAX_HELD = 100;
/** A result that nobody fetches is forgotten. */
const UNFETCHED_MS = 120_000;

/** What the client sends with each request of one call. */
export interface CallKey {
  readonly principal: string;
  readonly name: string;
  readonly args: unknown;
}

/** One request of the client: it may end it, and hears of progress while it lasts. */
export interface Round {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

export type Turn<Result> =
  | { readonly result: Result }
  /** The client asks its person and comes back with the answers and this state. */
  | { readonly questions: Readonly<Record<string, Question>>; readonly state: string };

export interface HeldWork {
  readonly askClient: AskClient;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/**
 * In the protocol of 2026 a server cannot ask while a call runs: the request ends with questions, and the client
 * sends it again with the answers. The call itself goes on in between, so nothing is done twice.
 */
export class HeldCalls<Result> {
  readonly #held = new Map<string, { readonly call: HeldCall<Result>; readonly key: string }>();

  async begin(
    key: CallKey,
    { round, run }: { readonly round: Round; readonly run: (work: HeldWork) => Promise<Result> },
  ): Promise<Turn<Result>> {
    return this.#turn(new HeldCall(run), { key: textOf(key), round, answers: {} });
  }

  /** Undefined when no such call waits: answered already, given up, or never ours. */
  async resume(
    key: CallKey,
    options: {
      readonly state: string;
      readonly answers: Readonly<Record<string, RawAnswer>>;
      readonly round: Round;
    },
  ): Promise<Turn<Result> | undefined> {
    const found = this.#held.get(options.state);
    // What the person has seen is what runs: an answer to other arguments, or from somebody else, is none.
    if (found === undefined || found.key !== textOf(key)) return undefined;
    this.#held.delete(options.state);
    return this.#turn(found.call, { key: found.key, ...options });
  }

  close(): void {
    for (const { call } of this.#held.values()) call.giveUp();
    this.#held.clear();
  }

  async #turn(
    call: HeldCall<Result>,
    options: {
      readonly key: string;
      readonly round: Round;
      readonly answers: Readonly<Record<string, RawAnswer>>;
    },
  ): Promise<Turn<Result>> {
    const turn = await call.round(options);
    if ("result" in turn) return turn;
    const state = randomBytes(32).toString("base64url");
    this.#held.set(state, { call, key: options.key });
    const forget = () => void setTimeout(() => this.#held.delete(state), UNFETCHED_MS).unref();
    call.ended.then(forget, forget);
    const [oldest] = this.#held.keys();
    if (this.#held.size > MAX_HELD && oldest !== undefined) {
      this.#held.get(oldest)?.call.giveUp();
      this.#held.delete(oldest);
    }
    return { questions: turn.questions, state };
  }
}

class HeldCall<Result> {
  readonly ended: Promise<Result>;
  readonly #controller = new AbortController();
  readonly #open = new Map<string, { readonly question: Question; answer(given: RawAnswer): void }>();
  #round: Round | undefined;
  #asked = 0;
  #wake: () => void = () => undefined;

  constructor(run: (work: HeldWork) => Promise<Result>) {
    this.ended = run({
      askClient: (question, signal) => this.#ask(question, signal),
      signal: this.#controller.signal,
      onProgress: (progress) => this.#round?.onProgress(progress),
    });
  }

  /** Until there is a result, or a question only the client's person can answer. */
  async round(options: {
    readonly round: Round;
    readonly answers: Readonly<Record<string, RawAnswer>>;
  }): Promise<{ readonly result: Result } | { readonly questions: Readonly<Record<string, Question>> }> {
    const { round, answers } = options;
    const stop = () => this.giveUp();
    round.signal.addEventListener("abort", stop, { once: true });
    if (round.signal.aborted) stop();
    this.#round = round;
    for (const [key, given] of Object.entries(answers)) this.#open.get(key)?.answer(given);
    try {
      const asks = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
        if (this.#open.size > 0) resolve(undefined);
      });
      const ended = await Promise.race([this.ended.then((result) => ({ result })), asks]);
      if (ended !== undefined) return ended;
      return { questions: Object.fromEntries([...this.#open].map(([key, { question }]) => [key, question])) };
    } finally {
      this.#round = undefined;
      round.signal.removeEventListener("abort", stop);
    }
  }

  giveUp(): void {
    this.#controller.abort();
  }

  #ask(question: Question, signal: AbortSignal): Promise<RawAnswer | undefined> {
    return new Promise((resolve) => {
      this.#asked += 1;
      const key = `question_${this.#asked}`;
      const answer = (given: RawAnswer | undefined) => {
        this.#open.delete(key);
        signal.removeEventListener("abort", unanswered);
        resolve(given);
      };
      const unanswered = () => answer(undefined);
      this.#open.set(key, { question, answer });
      signal.addEventListener("abort", unanswered, { once: true });
      if (signal.aborted) unanswered();
      else this.#wake();
    });
  }
}

function textOf({ principal, name, args }: CallKey): string {
  try {
    return canonicalJson([principal, name, args]);
  } catch {
    // Nested too deep to be written. Such a call is refused before it asks anything, so it is like no other one.
    return randomBytes(32).toString("base64url");
  }
}
