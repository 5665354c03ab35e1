import { HELD_LOOP_MS, heldLoopIsNamed } from "../base/held-loop.js";
import { ERROR_CODES, type Failure, failure, ToolError } from "../tool/errors.js";
import { describeThrown, ignoreRejection } from "../tool/thrown.js";
import { interrupted } from "./admit.js";
import { changedSinceApproval } from "./approve.js";
import { wholeCharacters } from "./bounds.js";
import type { CallRecord } from "./call-record.js";
import { type CallClock, HandlerContext } from "./context.js";
import { cancelDeadline, type Deadline, setDeadline } from "./deadlines.js";

/** How long a handler may take to stop after it was told to. */
const STOPPING_GRACE_MS = 5_000;
/** Longer timers overflow and fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Runs the handler under its deadline. A cancelled call is over when its handler has stopped. */
export function execute(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  if (call.signal?.aborted === true) return interrupted();
  const changed = changedSinceApproval(call);
  if (changed !== undefined) return changed;
  const context = new HandlerContext(call);
  const before = performance.now();
  try {
    const timeoutMs = deadlineOf(call);
    call.began = true;
    let returned: unknown =
      call.scope.services.place?.run(call, context) ?? call.tool.handler(call.args, context);
    warnIfBlocked(call, performance.now() - before);
    if (isAsyncIterable(returned)) returned = drain(returned, context);
    if (isThenable(returned)) return untilDeadline(call, { context, timeoutMs, running: returned });
    context.end();
    call.output = returned;
    return undefined;
  } catch (thrown) {
    context.end();
    logStack(call, thrown);
    noteSource(call, thrown);
    return failureFrom(thrown);
  }
}

/** A handler that has begun and not ended. An object rather than closures: there is one for every call. */
class RunningHandler implements Deadline, CallClock {
  dueAt = 0;
  timer: NodeJS.Timeout | undefined;
  readonly #call: CallRecord;
  readonly #context: HandlerContext;
  readonly #timeoutMs: number;
  readonly #resolve: (ended: Failure | undefined) => void;
  #stopping: Failure | undefined;
  #leftMs: number;
  #runningSince = performance.now();
  #ended = false;
  #onInterrupt: (() => void) | undefined;

  constructor(
    call: CallRecord,
    options: {
      readonly context: HandlerContext;
      readonly timeoutMs: number;
      readonly resolve: (ended: Failure | undefined) => void;
    },
  ) {
    this.#call = call;
    this.#context = options.context;
    this.#timeoutMs = options.timeoutMs;
    this.#resolve = options.resolve;
    this.#leftMs = options.timeoutMs;
    options.context.clock = this;
    this.pause(options.context.waiting);
    if (call.signal === undefined) return;
    this.#onInterrupt = () => this.#stop(interruptedAfterBegin(call));
    call.signal.addEventListener("abort", this.#onInterrupt, { once: true });
    // The handler itself may have brought the abort about before it first waited.
    if (call.signal.aborted) this.#onInterrupt();
  }

  /** The time is up: first for the work, then for stopping. */
  fire(): void {
    const { entry, scope } = this.#call;
    if (this.#stopping === undefined) {
      this.#stop(
        failure(
          "timeout",
          `${entry.name} timed out after ${this.#timeoutMs / 1000} s`,
          `${mayHaveDone(this.#call)} Do less in one call, or raise its timeout.`,
        ),
      );
      return;
    }
    scope.services.log.warn(
      `${entry.name} did not stop within ${STOPPING_GRACE_MS / 1000} s of being told to`,
    );
    const { code, message } = this.#stopping;
    this.#stopping = failure(
      code,
      message,
      `The tool did not stop when asked and may still be running. ${mayHaveDone(this.#call)}`,
    );
    this.#end(undefined);
  }

  /** The time in which a call made from inside this one waits for a person is not this one's. */
  pause(waiting: boolean): void {
    if (this.#stopping !== undefined || this.#ended) return;
    if (waiting) {
      cancelDeadline(this);
      this.#leftMs -= performance.now() - this.#runningSince;
    } else {
      this.#runningSince = performance.now();
      setDeadline(this, Math.max(this.#leftMs, 1));
    }
  }

  beginAnew(): void {
    if (this.#stopping !== undefined || this.#ended) return;
    this.#leftMs = this.#timeoutMs;
    if (this.#context.waiting) return;
    cancelDeadline(this);
    this.pause(false);
  }

  returned(value: unknown): void {
    this.#call.output = value;
    this.#end(undefined);
  }

  threw(thrown: unknown): void {
    logStack(this.#call, thrown);
    noteSource(this.#call, thrown);
    this.#end(failureFrom(thrown));
  }

  #stop(why: Failure): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = why;
    cancelDeadline(this);
    const reason = new Error(why.message);
    if (why.code === "timeout") reason.name = "TimeoutError";
    this.#context.abort(reason);
    setDeadline(this, STOPPING_GRACE_MS);
  }

  #end(problem: Failure | undefined): void {
    this.#ended = true;
    this.#context.end();
    cancelDeadline(this);
    if (this.#onInterrupt !== undefined) this.#call.signal?.removeEventListener("abort", this.#onInterrupt);
    this.#resolve(this.#stopping ?? problem);
  }
}

function interruptedAfterBegin(call: CallRecord): Failure {
  return failure("cancelled", "interrupted after it began", mayHaveDone(call));
}

const EFFECTS_TOLD = 5;
const EFFECT_CHARS = 200;

/** What a call that did not come to its end may have left behind. */
function mayHaveDone({ effects, entry }: CallRecord): string {
  const changes = effects.filter(({ mode }) => mode !== "read");
  if (changes.length === 0 && entry.host === "delegate")
    return "What it handed on may have been done in part. Look before you repeat it.";
  if (changes.length === 0) return "It only reads, so it can be called again.";
  const told = changes.slice(0, EFFECTS_TOLD).map(({ action, resource }) => {
    const place = resource.length > EFFECT_CHARS ? `${wholeCharacters(resource, EFFECT_CHARS)}…` : resource;
    return `${action} ${place}`;
  });
  const more = changes.length > told.length ? ` and ${changes.length - told.length} more` : "";
  return `It may have done all, some or none of this: ${told.join("; ")}${more}. Look before you repeat it.`;
}

function untilDeadline(
  call: CallRecord,
  work: {
    readonly context: HandlerContext;
    readonly timeoutMs: number;
    readonly running: PromiseLike<unknown>;
  },
): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const handler = new RunningHandler(call, { context: work.context, timeoutMs: work.timeoutMs, resolve });
    // A promise made by others may throw from `then`; this one turns that into a rejection.
    Promise.resolve(work.running).then(
      (value) => handler.returned(value),
      (thrown: unknown) => handler.threw(thrown),
    );
  });
}

function deadlineOf(call: CallRecord): number {
  const { timeoutMs } = call.tool;
  const declared = typeof timeoutMs === "function" ? timeoutMs(call.args) : timeoutMs;
  ignoreRejection(declared);
  const chosen =
    typeof declared === "number" && declared > 0 ? declared : call.scope.services.defaultTimeoutMs;
  return Math.min(chosen, call.scope.services.timeoutCeilingMs ?? LONGEST_TIMER_MS, LONGEST_TIMER_MS);
}

/** For authors: where in their own code a tool failed. Built-in tools fail in words of their own. */
function logStack({ entry, scope }: CallRecord, thrown: unknown): void {
  if (entry.provenance.kind === "builtin") return;
  try {
    if (ToolError.isInstance(thrown) || !(thrown instanceof Error)) return;
    scope.services.log.debug(`${entry.name} threw ${thrown.stack}`);
  } catch {
    // A thrown value that nobody can read has no stack to show.
  }
}

/** What a server says of a failure is as much the word of others as what it answers. */
function noteSource(call: CallRecord, thrown: unknown): void {
  try {
    if (ToolError.isInstance(thrown) && typeof thrown.from === "string") call.addUntrusted([thrown.from]);
  } catch {
    // A thrown value that nobody can read quotes nobody.
  }
}

/** The words of the source documents; a ToolError brings its own. */
export function failureFrom(thrown: unknown): Failure {
  try {
    if (ToolError.isInstance(thrown)) {
      const code = ERROR_CODES.includes(thrown.code) ? thrown.code : "failed";
      return failure(
        code,
        String(thrown.message),
        thrown.hint === undefined ? undefined : String(thrown.hint),
      );
    }
  } catch {
    // A ToolError from elsewhere whose fields cannot be read is described like anything else.
  }
  const { type, message } = describeThrown(thrown);
  return failure("failed", `Tool execution failed: ${type}: ${message}`);
}

/** Only the synchronous part can hold the loop: what is awaited leaves it free. */
function warnIfBlocked(call: CallRecord, heldMs: number): void {
  if (heldMs < HELD_LOOP_MS) return;
  heldLoopIsNamed();
  call.scope.services.log.warn(
    `${call.entry.name} blocked the event loop for ${Math.round(heldMs)} ms; other calls had to wait`,
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** An iterator that never waits would otherwise keep every timer from firing. */
const VALUES_PER_TURN = 32;

/** The last value is the result; every one before it is progress. An abort tells the iterator to stop. */
async function drain(values: AsyncIterable<unknown>, context: HandlerContext): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  let last: unknown;
  for (let count = 0; ; count += 1) {
    if (context.aborted) {
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
      return last;
    }
    const step = await iterator.next();
    if (step.done === true) return last;
    if (count > 0 && typeof last === "object" && last !== null) context.progress(last);
    last = step.value;
    if (count % VALUES_PER_TURN === VALUES_PER_TURN - 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
