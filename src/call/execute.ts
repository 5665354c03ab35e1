import { ERROR_CODES, type Failure, failure, ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { interrupted } from "./admit.js";
import type { CallRecord } from "./call-record.js";
import { HandlerContext } from "./context.js";
import { setDeadline } from "./deadlines.js";
import { drain, isAsyncIterable } from "./drain.js";

/** How long a handler may take to stop after it was told to. */
const STOPPING_GRACE_MS = 5_000;
/** A handler that holds the event loop this long is named in the log. */
const BLOCKED_LOOP_MS = 1_000;
/** Longer timers overflow and fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Runs the handler under its deadline. A cancelled call is over when its handler has stopped. */
export function execute(call: CallRecord): Failure | undefined | Promise<Failure | undefined> {
  if (call.signal?.aborted === true) return interrupted();
  const context = new HandlerContext(call);
  const before = performance.now();
  try {
    const timeoutMs = deadlineOf(call);
    let returned: unknown = call.tool.handler(call.args, context);
    warnIfBlocked(call, performance.now() - before);
    if (isAsyncIterable(returned)) returned = drain(returned, context);
    if (isThenable(returned)) return untilDeadline({ call, context, timeoutMs, running: returned });
    call.output = returned;
    return undefined;
  } catch (thrown) {
    return failureFrom(thrown);
  }
}

function untilDeadline(work: {
  readonly call: CallRecord;
  readonly context: HandlerContext;
  readonly timeoutMs: number;
  readonly running: PromiseLike<unknown>;
}): Promise<Failure | undefined> {
  const { call, context, timeoutMs } = work;
  return new Promise((resolve) => {
    let stopping: Failure | undefined;
    const finish = (problem: Failure | undefined) => {
      cancelDeadline();
      call.signal?.removeEventListener("abort", onInterrupt);
      resolve(stopping ?? problem);
    };
    const stop = (why: Failure) => {
      if (stopping !== undefined) return;
      stopping = why;
      cancelDeadline();
      context.abort(new Error(why.message));
      cancelDeadline = setDeadline(STOPPING_GRACE_MS, () => {
        call.scope.services.log.warn(
          `${call.entry.name} did not stop within ${STOPPING_GRACE_MS / 1000} s of being told to`,
        );
        stopping = failure(
          why.code,
          why.message,
          "The tool did not stop when asked and may still be running.",
        );
        finish(undefined);
      });
    };
    const onInterrupt = () => stop(interrupted());
    let cancelDeadline = setDeadline(timeoutMs, () => stop(timedOut(call, timeoutMs)));
    call.signal?.addEventListener("abort", onInterrupt, { once: true });
    // A promise made by others may throw from `then`; this one turns that into a rejection.
    Promise.resolve(work.running).then(
      (value) => {
        call.output = value;
        finish(undefined);
      },
      (thrown: unknown) => finish(failureFrom(thrown)),
    );
  });
}

function timedOut(call: CallRecord, timeoutMs: number): Failure {
  return failure(
    "timeout",
    `${call.entry.name} timed out after ${timeoutMs / 1000} s`,
    "Do less in one call, or raise its timeout.",
  );
}

function deadlineOf(call: CallRecord): number {
  const { timeoutMs } = call.tool;
  const declared = typeof timeoutMs === "function" ? timeoutMs(call.args) : timeoutMs;
  const chosen =
    typeof declared === "number" && declared > 0 ? declared : call.scope.services.defaultTimeoutMs;
  return Math.min(chosen, LONGEST_TIMER_MS);
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
  if (heldMs < BLOCKED_LOOP_MS) return;
  call.scope.services.log.warn(
    `${call.entry.name} blocked the event loop for ${Math.round(heldMs)} ms; other calls had to wait`,
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
