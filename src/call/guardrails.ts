import { sha256 } from "../base/hash.js";
import { LruMap } from "../base/lru.js";
import { type Failure, failure } from "../tool/errors.js";
import { serializeOutput } from "../tool/serialize.js";

/**
 * Loop detection over one turn of a model. "warn" appends notices; "stop" also refuses calls that plainly
 * lead nowhere (for runs nobody watches); "off" is for programs, which may repeat themselves on purpose.
 */
export type GuardrailMode = "off" | "warn" | "stop";

export interface GuardedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly idempotent: boolean;
  /** Failing often is normal for this tool: it is never halted for failing. */
  readonly tolerant: boolean;
}

const SAME_FAILURE = { warn: 2, block: 5 };
const TOOL_FAILURE = { warn: 3, halt: 8 };
const NO_NEWS = { warn: 2, block: 5 };
const IDENTICAL_NOTICE = 3;
const LONGEST_CYCLE = 4;
const CYCLE_REPEATS = 3;
const DUPLICATE_RESULT_CHARS = 512;
const REMEMBERED_CALLS = 256;
/** Where nobody says when a person has spoken, a pause this long does. */
const PAUSE_MS = 60_000;
const CAPS_PER_TURN: Readonly<Record<string, number>> = { web_search: 50, delegate_task: 50 };

interface History {
  calls: number;
  failures: number;
  sameAnswers: number;
  lastAnswer: string | undefined;
  lastCallId: string;
}

export class Guardrails {
  readonly mode: GuardrailMode;
  readonly #byCall = new LruMap<string, History>(REMEMBERED_CALLS);
  #failuresByTool = new Map<string, number>();
  #callsByTool = new Map<string, number>();
  #sequence: string[] = [];
  readonly turnsUnseen: boolean;
  #lastCallAt = 0;

  /**
   * With `turnsUnseen` nobody calls `beginTurn`: a model on the other side of a protocol may even begin a new
   * conversation. Pauses stand for turns, and no result is replaced by a reference to an earlier one.
   */
  constructor(mode: GuardrailMode = "off", { turnsUnseen = false } = {}) {
    this.mode = mode;
    this.turnsUnseen = turnsUnseen;
  }

  /** A new message from the person: old repetitions no longer count. */
  beginTurn(): void {
    this.#byCall.clear();
    this.#failuresByTool = new Map();
    this.#callsByTool = new Map();
    this.#sequence = [];
  }

  /** Refuses a call that repeats itself without hope; only in "stop" mode, except for the hard caps. */
  before(call: GuardedCall): Failure | undefined {
    if (this.mode === "off") return undefined;
    if (this.turnsUnseen && Date.now() - this.#lastCallAt > PAUSE_MS) this.beginTurn();
    const made = this.#callsByTool.get(call.tool) ?? 0;
    const cap = Object.hasOwn(CAPS_PER_TURN, call.tool) ? CAPS_PER_TURN[call.tool] : undefined;
    if (cap !== undefined && made >= cap) {
      return failure(
        "over_budget",
        `${call.tool} was already called ${made} times in this turn`,
        "Answer with what is known.",
      );
    }
    if (this.mode !== "stop") return undefined;
    const history = this.#byCall.get(keyOf(call));
    if (history !== undefined && history.failures >= SAME_FAILURE.block) {
      return failure(
        "over_budget",
        `this exact call of ${call.tool} has failed ${history.failures} times`,
        "Change the arguments or the approach.",
      );
    }
    if (history !== undefined && call.idempotent && history.sameAnswers >= NO_NEWS.block) {
      return failure(
        "over_budget",
        `this exact call of ${call.tool} gave the same answer ${history.sameAnswers} times`,
        "Use the answer already given.",
      );
    }
    const failures = this.#failuresByTool.get(call.tool) ?? 0;
    if (!call.tolerant && failures >= TOOL_FAILURE.halt) {
      return failure(
        "over_budget",
        `${call.tool} has failed ${failures} times in a row`,
        "Stop using it and report what is wrong.",
      );
    }
    return undefined;
  }

  /** Notices for the model, and a stub when it already has this very result. */
  after(call: GuardedCall & { readonly callId: string; readonly ok: boolean; readonly text: string }): {
    readonly notices: readonly string[];
    readonly stub?: string;
  } {
    if (this.mode === "off") return { notices: [] };
    const key = keyOf(call);
    const history = this.#byCall.get(key) ?? {
      calls: 0,
      failures: 0,
      sameAnswers: 0,
      lastAnswer: undefined,
      lastCallId: "",
    };
    const answer = digest(call.text);
    const sameAnswer = history.lastAnswer === answer;
    this.#lastCallAt = Date.now();
    const stub =
      !this.turnsUnseen && call.ok && sameAnswer && call.text.length >= DUPLICATE_RESULT_CHARS
        ? `[Same result as call ${history.lastCallId}: ${call.text.length} characters, unchanged]`
        : undefined;
    history.calls += 1;
    history.failures = call.ok ? 0 : history.failures + 1;
    history.sameAnswers = sameAnswer ? history.sameAnswers + 1 : 1;
    history.lastAnswer = answer;
    if (stub === undefined) history.lastCallId = call.callId;
    this.#byCall.set(key, history);
    const toolFailures = call.ok ? 0 : (this.#failuresByTool.get(call.tool) ?? 0) + 1;
    this.#failuresByTool.set(call.tool, toolFailures);
    this.#callsByTool.set(call.tool, (this.#callsByTool.get(call.tool) ?? 0) + 1);
    this.#sequence = [...this.#sequence.slice(1 - LONGEST_CYCLE * CYCLE_REPEATS), key];
    const notices = this.#notices({ call, history, toolFailures });
    return stub === undefined ? { notices } : { notices, stub };
  }

  #notices(seen: {
    readonly call: GuardedCall & { readonly ok: boolean };
    readonly history: History;
    readonly toolFailures: number;
  }): string[] {
    const { call, history, toolFailures } = seen;
    const notices: string[] = [];
    if (!call.ok && history.failures >= SAME_FAILURE.warn) {
      notices.push(`This exact call has failed ${history.failures} times; repeating it will not help.`);
    } else if (!call.ok && toolFailures >= TOOL_FAILURE.warn) {
      notices.push(`${call.tool} has failed ${toolFailures} times in a row; try another way.`);
    }
    if (call.ok && call.idempotent && history.sameAnswers >= NO_NEWS.warn) {
      notices.push(`This call gave the same answer ${history.sameAnswers} times; it brings nothing new.`);
    } else if (history.calls >= IDENTICAL_NOTICE) {
      notices.push(`The same call was made ${history.calls} times in this turn.`);
    }
    const period = cycleIn(this.#sequence);
    if (period > 1)
      notices.push(`The last calls repeat a cycle of ${period}; step back and change the plan.`);
    return notices;
  }
}

function keyOf(call: GuardedCall): string {
  return digest(`${call.tool}\0${serializeOutput(call.args)}`);
}

/** Histories outlive calls by far: they keep what identifies a text, not the text. */
function digest(text: string): string {
  return sha256(text, "base64");
}

/** Length of the cycle that the end of the sequence repeats, or 0. */
function cycleIn(sequence: readonly string[]): number {
  for (let period = 2; period <= LONGEST_CYCLE; period += 1) {
    const tail = sequence.slice(-period * CYCLE_REPEATS);
    if (tail.length < period * CYCLE_REPEATS || new Set(tail).size < 2) continue;
    if (tail.every((key, index) => index < period || key === tail[index - period])) return period;
  }
  return 0;
}
