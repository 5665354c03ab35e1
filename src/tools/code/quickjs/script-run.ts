import type { QuickJSHandle } from "quickjs-emscripten-core";
import { brokenBy, failureOf, refusal, withHint, withoutMemory } from "./failures.js";
import {
  type Ending,
  type FromThread,
  type Order,
  type ScriptFailure,
  SHARED,
  type ThreadLimits,
} from "./protocol.js";
import type { Sandbox } from "./sandbox-maker.js";

const JOBS_AT_ONCE = 200;
const MAX_TIMERS = 1_000;
/** Questions about the catalogue change nothing, but they cost the host time. */
const MAX_QUESTIONS = 1_000;
const FLUSH_MS = 100;
/** Flag of QuickJS: top-level await, and a promise of `{ value }` that holds the last value of the script. */
const EVAL_ASYNC = 128;
const SCRIPT_NAME = "script.js";

/** One script from its first line to its ending. Never throws. */
export class ScriptRun {
  readonly #sandbox: Sandbox;
  readonly #order: Order;
  readonly #shared: Int32Array;
  readonly #post: (message: FromThread) => void;
  readonly #stdout: Printed;
  readonly #stderr: Printed;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #calls = 0;
  #questions = 0;
  /** Requests without an answer yet, and how much text they hold. */
  #open = new Map<number, number>();
  #openChars = 0;
  #computedMs = 0;
  #sliceBegan = 0;
  #flushedAt = 0;
  #ending: Ending | undefined;
  #over = false;

  constructor(parts: {
    readonly sandbox: Sandbox;
    readonly order: Order;
    readonly shared: Int32Array;
    readonly post: (message: FromThread) => void;
  }) {
    this.#sandbox = parts.sandbox;
    this.#order = parts.order;
    this.#shared = parts.shared;
    this.#post = parts.post;
    this.#stdout = new Printed(parts.order.limits.maxStdoutChars);
    this.#stderr = new Printed(parts.order.limits.maxStderrChars);
  }

  /** Nothing can happen in it before a message comes. */
  get waitsForMessage(): boolean {
    return !this.#over && this.#timers.size === 0;
  }

  get #limits(): ThreadLimits {
    return this.#order.limits;
  }

  begin(): void {
    this.#sandbox.crossing.listen((said) => this.#hear(said));
    this.#sandbox.runtime.setInterruptHandler(() => this.#mustStop());
    this.#slice(() => this.#evaluate());
  }

  /** `text` is JSON; it begins with the number of the request. */
  answer(text: string): void {
    const id = Number.parseInt(text.slice(1, 12), 10);
    this.#openChars -= this.#open.get(id) ?? 0;
    this.#open.delete(id);
    this.#slice(() => this.#sandbox.crossing.call(this.#sandbox.answer.value, text));
  }

  /** Lets a script that waits notice that it is to end. */
  wake(): void {
    this.#slice(() => undefined);
  }

  #evaluate(): void {
    const { context, finish } = this.#sandbox;
    const compiled = this.#compile();
    if (compiled === undefined) return;
    const flag = compiled.wrapped ? context.true : context.false;
    context.unwrapResult(context.callFunction(finish, context.undefined, compiled.promise, flag)).dispose();
  }

  /** A promise of the script's outcome; `wrapped` when that is `{ value }` instead of the value itself. */
  #compile(): { readonly promise: QuickJSHandle; readonly wrapped: boolean } | undefined {
    const { context } = this.#sandbox;
    const { code } = this.#order;
    const asModule = context.evalCode(code, SCRIPT_NAME, EVAL_ASYNC);
    if (asModule.error === undefined) return { promise: asModule.value, wrapped: true };
    const problem = this.#problem(asModule.error);
    if (!/^return not in a function/.test(problem.message)) {
      this.#end({ how: "failed", error: withHint(problem, code) });
      return undefined;
    }
    // The first line stays the first line, so that the numbers in messages are those of the script.
    const asFunction = context.evalCode(`(async () => {${code}\n})()`, SCRIPT_NAME);
    if (asFunction.error === undefined) return { promise: asFunction.value, wrapped: false };
    this.#end({ how: "failed", error: withHint(this.#problem(asFunction.error), code) });
    return undefined;
  }

  #problem(thrown: QuickJSHandle): ScriptFailure {
    return failureOf(this.#sandbox.context.dump(thrown));
  }

  /** Runs the sandbox until it has nothing more to do for now. */
  #slice(work: () => void): void {
    if (this.#over) return;
    this.#sliceBegan = performance.now();
    this.#flushedAt = this.#sliceBegan;
    try {
      if (!this.#mustStop()) work();
      this.#runJobs();
    } catch (error) {
      this.#ending ??= brokenBy(error);
    }
    this.#computedMs += performance.now() - this.#sliceBegan;
    this.#flush();
    this.#settle();
  }

  #runJobs(): void {
    while (!this.#hasFailed() && !this.#mustStop()) {
      if (this.#sandbox.crossing.runJobs(JOBS_AT_ONCE) < JOBS_AT_ONCE) return;
    }
  }

  #hasFailed(): boolean {
    return this.#ending !== undefined && this.#ending.how !== "done";
  }

  #mustStop(): boolean {
    if (this.#ending?.how === "stopped" || this.#ending?.how === "out_of_time") return true;
    if (Atomics.load(this.#shared, SHARED.stop) !== 0) {
      this.#ending = { how: "stopped" };
      return true;
    }
    const now = performance.now();
    if (this.#computedMs + now - this.#sliceBegan > this.#limits.computeMs) {
      this.#ending = { how: "out_of_time" };
      return true;
    }
    if (now - this.#flushedAt > FLUSH_MS) this.#flush();
    return false;
  }

  /** A script that has said its result still waits for the calls it began; failing, it does not. */
  #settle(): void {
    const nothingComes = this.#open.size === 0 && this.#timers.size === 0;
    if (this.#ending === undefined && nothingComes) {
      this.#ending = {
        how: "failed",
        error: {
          name: "Error",
          message: "the script waits for a promise that nothing will ever settle",
          hint: "Check that every promise it makes is resolved.",
        },
      };
    }
    if (this.#ending === undefined || (this.#ending.how === "done" && this.#open.size > 0)) return;
    this.#over = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#post({
      kind: "ended",
      ending: this.#sandbox.isFull() ? withoutMemory(this.#ending) : this.#ending,
      stdout: this.#stdout.text(),
      stderr: this.#stderr.text(),
    });
  }

  #end(ending: Ending): void {
    this.#ending ??= ending;
  }

  #flush(): void {
    this.#flushedAt = performance.now();
    for (const stream of ["stdout", "stderr"] as const) {
      const text = (stream === "stdout" ? this.#stdout : this.#stderr).takeUnsent();
      if (text !== "") this.#post({ kind: "output", stream, text });
    }
  }

  /** The words of the sandbox: a letter, a number, a blank and JSON. What is given back enters it as JSON. */
  #hear(said: string): string | undefined {
    const blank = said.indexOf(" ");
    const id = Number(said.slice(1, blank));
    const text = said.slice(blank + 1);
    switch (said.charAt(0)) {
      case "c":
      case "s":
      case "d":
        return this.#request(id, said);
      case "n":
        return this.#order.names;
      case "o":
        this.#stdout.add(String(JSON.parse(text)));
        return undefined;
      case "e":
        this.#stderr.add(String(JSON.parse(text)));
        return undefined;
      case "t":
        return this.#startTimer(id, Number(text));
      case "x":
        this.#clearTimer(id);
        return undefined;
      case "r":
        this.#end({ how: "done", result: text === "" ? undefined : text });
        return undefined;
      case "f":
        this.#end({ how: "failed", error: failureOf(JSON.parse(text)) });
        return undefined;
      default:
        return undefined;
    }
  }

  #request(id: number, said: string): string | undefined {
    if (said.startsWith("c")) this.#calls += 1;
    else this.#questions += 1;
    const { maxToolCalls, memoryBytes } = this.#limits;
    if (this.#calls > maxToolCalls) {
      return refusal({
        message: `This script has made all of its ${maxToolCalls} tool calls`,
        hint: "Split the work over several scripts, or ask for less in each call.",
      });
    }
    if (this.#questions > MAX_QUESTIONS) {
      return refusal({
        message: `This script has asked about tools ${MAX_QUESTIONS} times`,
        hint: "Search once and keep the answer in a variable.",
      });
    }
    if (this.#openChars + said.length > memoryBytes) {
      return refusal({
        message: `The arguments of calls under way are larger than the script's memory (${memoryBytes} bytes)`,
        hint: "Await calls before making more of them.",
      });
    }
    this.#open.set(id, said.length);
    this.#openChars += said.length;
    this.#post(said);
    return undefined;
  }

  #startTimer(id: number, delay: number): string | undefined {
    if (this.#timers.size >= MAX_TIMERS) return `"a script may have ${MAX_TIMERS} timers at once"`;
    const { crossing, fire } = this.#sandbox;
    const timer = setTimeout(
      () => {
        if (this.#timers.get(id) === timer) this.#timers.delete(id);
        this.#slice(() => crossing.call(fire.value, String(id)));
      },
      Math.min(delay, this.#limits.computeMs + 1_000),
    );
    this.#timers.set(id, timer);
    return undefined;
  }

  #clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}

/** Keeps the first and the last of what is written, and sends on as much as would be kept. */
class Printed {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail = "";
  #total = 0;
  #unsent = "";
  #sent = 0;

  constructor(maxChars: number) {
    this.#headLimit = Math.floor(maxChars * 0.4);
    this.#tailLimit = maxChars - this.#headLimit;
  }

  add(text: string): void {
    this.#total += text.length;
    const room = Math.max(0, this.#headLimit - this.#head.length);
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    if (this.#tail.length > 2 * this.#tailLimit + 4_096) this.#tail = this.#tail.slice(-this.#tailLimit);
    const left = this.#headLimit + this.#tailLimit - this.#sent - this.#unsent.length;
    if (left > 0) this.#unsent += text.slice(0, left);
  }

  takeUnsent(): string {
    const text = this.#unsent;
    this.#sent += text.length;
    this.#unsent = "";
    return text;
  }

  text(): string {
    if (this.#total <= this.#headLimit + this.#tailLimit) return this.#head + this.#tail;
    const head = this.#head.replace(/[\ud800-\udbff]$/, "");
    const tail = this.#tail.slice(this.#tail.length - this.#tailLimit).replace(/^[\udc00-\udfff]/, "");
    const missing = this.#total - head.length - tail.length;
    return `${head}\n[... ${missing} of ${this.#total} characters omitted ...]\n${tail}`;
  }
}
