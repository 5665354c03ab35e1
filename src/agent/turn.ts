import { type ModelClient, ModelError, type ModelFinish } from "../model/model-client.js";
import type { ModelPrices } from "../model/prices.js";
import { modelContent } from "../protocol/model-text.js";
import type { Session } from "../runtime/session.js";
import type { CallResult, IncomingCall } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { serializeOutput } from "../tool/serialize.js";
import type { ToolSchema } from "../tool/tool.js";
import { spoken, troubleOf } from "./answer-trouble.js";
import { type Answer, askModel, type Emit } from "./ask-model.js";
import { Compressor, NOT_THE_PERSON, visible } from "./compress.js";
import { contextOf, isUnfinished } from "./context.js";
import { type ContextMeter, tokensOf } from "./context-meter.js";
import { describedError } from "./described-error.js";
import type { AgentResult, StopReason } from "./events.js";
import { type Budget, Ledger } from "./ledger.js";
import type { ConversationStore, NewMessage, StoredMessage } from "./sessions/types.js";
import type { ConversationTodos } from "./todos.js";

/** A model that makes the same call and gets the same error this often has no other idea. */
const SAME_FAILURES = 3;
const HOPELESS = "The same call failed in the same way three times; the turn ends here.";

/** A model with all that is known of it. */
export interface AgentModel {
  readonly client: ModelClient;
  /** Provider and name, as people write it. */
  readonly name: string;
  /** How much it can read; undefined when nobody knows. */
  readonly contextTokens?: number | undefined;
  readonly prices?: ModelPrices | undefined;
}

export interface TurnParts {
  readonly conversation: string;
  /** The conversation whose budget pays; its own when left out. */
  readonly payer?: string | undefined;
  readonly store: ConversationStore;
  readonly session: Session;
  readonly model: AgentModel;
  readonly todos: ConversationTodos;
  readonly meter: ContextMeter;
  readonly maxTurns: number;
  /** Asked before each request: it may be raised while the work waits. */
  budget(): Budget;
  readonly signal: AbortSignal;
  /** Of whoever asked for the turn. */
  readonly traceparent?: string | undefined;
  readonly emit: Emit;
  /** Nothing new was said: where the last turn came to its end, there is nothing to do. */
  readonly onlyUnfinished?: boolean | undefined;
  /** What the person has said meanwhile, to be heard before the model is asked again. */
  takeSteering(): readonly string[];
}

/**
 * One turn: the model is asked and its calls are run until it has nothing more to call. Whatever it says is on disk
 * before it is acted on, and so is every result before it is told: a turn that is cut off at any moment can go on.
 */
export async function runTurn(parts: TurnParts): Promise<AgentResult> {
  return new Turn(parts).run();
}

class Turn {
  readonly #parts: TurnParts;
  readonly #ledger: Ledger;
  readonly #compressor: Compressor;
  #tools: readonly ToolSchema[] = [];
  #definitionTokens = 0;
  readonly #startedAt = performance.now();
  readonly #made: AgentResult["tool_calls"][number][] = [];
  readonly #failures = new Map<string, number>();
  #stored: StoredMessage[] = [];
  #text = "";
  #turns = 0;
  #error: AgentResult["error"];

  constructor(parts: TurnParts) {
    this.#parts = parts;
    const { store, conversation, payer, model, todos, signal, emit } = parts;
    this.#ledger = new Ledger({
      store,
      session: conversation,
      payer,
      model,
      budget: () => parts.budget(),
    });
    this.#compressor = new Compressor({
      model: model.client,
      store,
      conversation,
      ledger: this.#ledger,
      meter: parts.meter,
      contextTokens: model.contextTokens,
      signal,
      emit,
      todos: () => todos.read(),
    });
  }

  async run(): Promise<AgentResult> {
    const { store, conversation, emit, session, model } = this.#parts;
    this.#tools = (await session.definitions()).map((definition) => definition.function);
    this.#definitionTokens = this.#tools.length === 0 ? 0 : tokensOf(this.#tools);
    emit({
      type: "init",
      session: conversation,
      model: model.name,
      tools: this.#tools.map(({ name }) => name),
    });
    this.#stored = [...(await store.messages(conversation))];
    const unpriced = this.#ledger.unpriced();
    if (unpriced !== undefined) emit({ type: "notice", message: unpriced });
    const finish = this.#parts.payer === undefined ? this.#ledger.lead() : undefined;
    let stop: StopReason;
    try {
      stop = await this.#untilItIsOver();
    } catch (error) {
      this.#error = describedError(error);
      emit({ type: "error", ...this.#error });
      stop = "error";
    } finally {
      finish?.();
    }
    return {
      type: "result",
      session: conversation,
      text: this.#text,
      stop,
      turns: this.#turns,
      model: model.name,
      tool_calls: this.#made,
      ...(this.#error !== undefined && { error: this.#error }),
      usage: this.#ledger.usage,
      cost_usd: this.#ledger.costUsd,
      duration_ms: Math.round(performance.now() - this.#startedAt),
    };
  }

  async #untilItIsOver(): Promise<StopReason> {
    const { signal, maxTurns, emit } = this.#parts;
    if (this.#parts.onlyUnfinished === true && !isUnfinished(this.#stored)) {
      this.#text = lastAnswer(this.#stored);
      return "end";
    }
    let inVain = 0;
    while (!signal.aborted) {
      if (this.#turns >= maxTurns) return "max_turns";
      await this.#hearSteering();
      this.#stored = [...(await this.#compressor.fitted(this.#stored))];
      const refusal = await this.#ledger.reserve(this.#nextTokens());
      if (refusal !== undefined) return this.#ended("budget", { code: "budget", message: refusal });
      const answer = await this.#ask();
      // It was too long and is shorter now: whether there is money for it is asked anew.
      if (answer === undefined) continue;
      const said = spoken(answer);
      // Servers refuse answers that say nothing.
      if (said.text !== "" || said.calls.length > 0) await this.#keep([answered(said)]);
      this.#text = said.text;
      if (said.finish === undefined) return "interrupted";
      if (said.calls.length > 0) {
        inVain = 0;
        if (this.#isHopeless(await this.#runCalls(said.calls), said.calls))
          return this.#ended("error", { code: "stuck", message: HOPELESS });
        continue;
      }
      const trouble = troubleOf(said);
      if (trouble === undefined) return "end";
      inVain += 1;
      if (inVain > 1) return this.#ended(trouble.stop, { code: "no_answer", message: trouble.again });
      emit({ type: "notice", message: trouble.once });
      if (trouble.tellModel !== undefined)
        await this.#keep([{ role: "user", name: NOT_THE_PERSON, content: trouble.tellModel }]);
    }
    return "interrupted";
  }

  #announceAnswer(startedAt: number, finish: ModelFinish | undefined, error?: string): void {
    const { session, conversation, model, traceparent } = this.#parts;
    const { events } = session.scope.services;
    if (!events.wants("model.finished")) return;
    events.emit({
      type: "model.finished",
      session: session.id,
      conversation,
      root: session.scope.rootId,
      within: session.scope.ancestors.at(-1),
      model: model.name,
      answered_by: finish?.model,
      purpose: "turn",
      reason: finish?.reason,
      usage: finish?.usage,
      error,
      traceparent,
      started_at: startedAt,
      at: Date.now(),
    });
  }

  #ended(stop: StopReason, why: NonNullable<AgentResult["error"]>): StopReason {
    this.#parts.emit({ type: "notice", message: why.message });
    if (stop !== "end") this.#error = why;
    return stop;
  }

  /** What the next request will hold, as far as anybody knows. */
  #nextTokens(): number {
    const { meter } = this.#parts;
    return meter.tokens(visible(this.#stored)) + (meter.hasCount ? 0 : this.#definitionTokens);
  }

  /** Undefined: the server says it was too much, and there is less of it now. */
  async #ask(): Promise<Answer | undefined> {
    const { emit, model, signal, meter } = this.#parts;
    this.#turns += 1;
    let answer: Answer;
    const startedAt = Date.now();
    try {
      const messages = contextOf(this.#stored);
      answer = await askModel({ model: model.client, tools: this.#tools, signal, emit, messages });
      this.#announceAnswer(startedAt, answer.finish);
    } catch (error) {
      this.#announceAnswer(startedAt, undefined, ModelError.isInstance(error) ? error.code : "failed");
      this.#ledger.release();
      if (ModelError.isInstance(error) && error.code === "too_long" && (await this.#isShorter()))
        return undefined;
      throw error;
    }
    if (answer.finish === undefined) {
      this.#ledger.release();
      return answer;
    }
    const { usage, reason } = answer.finish;
    await this.#ledger.add("turn", { ...answer.finish, definitionTokens: this.#definitionTokens });
    if (usage !== undefined) meter.counted(visible(this.#stored), usage);
    if (reason === "length" && answer.begun === 0)
      emit({
        type: "notice",
        message: "The answer was cut off: it reached the longest that the model gives.",
      });
    return answer;
  }

  /** Nobody may have known how much the model can read until its server says that this was too much. */
  async #isShorter(): Promise<boolean> {
    const before = this.#stored.length;
    this.#stored = [...(await this.#compressor.fitted(this.#stored, { now: true }))];
    return this.#stored.length > before;
  }

  /** Every id gets its answer, also when somebody stops the turn meanwhile. */
  async #runCalls(calls: readonly IncomingCall[]): Promise<readonly CallResult[]> {
    const { session, signal, emit, traceparent } = this.#parts;
    for (const { id, name, arguments: given } of calls)
      emit({ type: "tool_use", id, name, arguments: given });
    const kept = new Map<string, string>();
    const results = await session.callAll(calls, {
      signal,
      traceparent,
      onProgress: (progress, id) => {
        const name = calls.find((call) => call.id === id)?.name ?? "";
        emit({ type: "tool_progress", id, name, message: progress.message });
      },
      onResult: async (result) => {
        const message = told(result);
        await this.#keep([message]);
        kept.set(result.id, serializeOutput(message.content));
        this.#announce(result);
      },
    });
    for (const { id, called_as: name, ok, duration_ms, error } of results)
      this.#made.push({ id, name, ok, duration_ms, error });
    // What was shortened so that all fit into one message takes the place of what was kept at once.
    const shorter = results
      .map(told)
      .filter(({ toolCallId = "", content }) => kept.get(toolCallId) !== serializeOutput(content));
    if (shorter.length > 0) await this.#keep(shorter);
    return results;
  }

  #announce(result: CallResult): void {
    const { id, called_as: name, ok, error, content, human, duration_ms } = result;
    const code = error === undefined ? {} : { code: error.code };
    this.#parts.emit({ type: "tool_result", id, name, ok, ...code, content, human, duration_ms });
  }

  /** Whether one of them has failed in the same way too often. In one answer it counts once: the model had not seen it fail. */
  #isHopeless(results: readonly CallResult[], calls: readonly IncomingCall[]): boolean {
    const failed = new Set<string>();
    for (const { id, ok, error } of results) {
      if (ok || error?.code === "cancelled") continue;
      const call = calls.find((each) => each.id === id);
      failed.add(serializeOutput([call?.name, call?.arguments, error?.code, error?.message]));
    }
    for (const key of failed) this.#failures.set(key, (this.#failures.get(key) ?? 0) + 1);
    return [...failed].some((key) => (this.#failures.get(key) ?? 0) >= SAME_FAILURES);
  }

  async #hearSteering(): Promise<void> {
    const said = this.#parts.takeSteering();
    if (said.length > 0) await this.#keep(said.map((content) => ({ role: "user", content })));
  }

  async #keep(messages: readonly NewMessage[]): Promise<void> {
    this.#stored.push(...(await this.#parts.store.append(this.#parts.conversation, messages)));
  }
}

function lastAnswer(stored: readonly StoredMessage[]): string {
  const { content = "" } = stored.findLast(({ role }) => role === "assistant") ?? {};
  return typeof content === "string" ? content : textOf(content);
}

function answered({ text, calls, finish }: Answer): NewMessage {
  return {
    role: "assistant",
    content: text,
    toolCalls: calls.length === 0 ? undefined : calls,
    opaque: finish?.opaque,
  };
}

function told(result: CallResult): NewMessage {
  const { id, called_as: name, ok } = result;
  return {
    role: "tool",
    toolCallId: id,
    name,
    content: modelContent(result),
    isError: ok ? undefined : true,
  };
}
