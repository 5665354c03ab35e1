import { type Failure, failure, ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { interrupted } from "./admit.js";
import type { CallRecord } from "./call-record.js";
import { HandlerContext } from "./context.js";

/** How long a handler may take to stop after it was told to. */
const STOPPING_GRACE_MS = 5_000;
/** A handler that holds the event loop this long is named in the log. */
const BLOCKED_LOOP_MS = 1_000;

/** Runs the handler under its deadline. A cancelled call is over when its handler has stopped. */
export async function execute(call: CallRecord): Promise<Failure | undefined> {
  const context = new HandlerContext(call);
  const before = performance.now();
  let returned: unknown;
  try {
    returned = call.tool.handler(call.args, context);
  } catch (thrown) {
    return failureFrom(thrown);
  } finally {
    warnIfBlocked(call, performance.now() - before);
  }
  if (isAsyncIterable(returned)) returned = drain(returned, context);
  if (!isThenable(returned)) {
    call.output = returned;
    return undefined;
  }
  return untilDeadline(call, context, returned);
}

type Ended =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly thrown: unknown };

function untilDeadline(
  call: CallRecord,
  context: HandlerContext,
  running: PromiseLike<unknown>,
): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const timeoutMs = deadlineOf(call);
    let stopping: Failure | undefined;
    const finish = (ended: Ended) => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", onInterrupt);
      if (stopping !== undefined) return resolve(stopping);
      if (ended.kind === "threw") return resolve(failureFrom(ended.thrown));
      call.output = ended.value;
      resolve(undefined);
    };
    const stop = (why: Failure) => {
      if (stopping !== undefined) return;
      stopping = why;
      clearTimeout(timer);
      context.abort(new Error(why.message));
      timer = setTimeout(() => {
        call.scope.services.log.warn(
          `${call.entry.name} did not stop within ${STOPPING_GRACE_MS / 1000} s of being told to`,
        );
        stopping = failure(
          why.code,
          why.message,
          "The tool did not stop when asked and may still be running.",
        );
        finish({ kind: "returned", value: undefined });
      }, STOPPING_GRACE_MS);
    };
    const onInterrupt = () => stop(interrupted());
    let timer = setTimeout(
      () =>
        stop(
          failure(
            "timeout",
            `${call.entry.name} timed out after ${timeoutMs / 1000} s`,
            "Do less in one call, or raise its timeout.",
          ),
        ),
      timeoutMs,
    );
    call.signal?.addEventListener("abort", onInterrupt, { once: true });
    if (call.signal?.aborted === true) onInterrupt();
    running.then(
      (value) => finish({ kind: "returned", value }),
      (thrown: unknown) => finish({ kind: "threw", thrown }),
    );
  });
}

function deadlineOf(call: CallRecord): number {
  const { timeoutMs } = call.tool;
  const declared = typeof timeoutMs === "function" ? timeoutMs(call.args) : timeoutMs;
  return declared ?? call.scope.services.defaultTimeoutMs;
}

/** The words of the source documents; a ToolError brings its own. */
export function failureFrom(thrown: unknown): Failure {
  if (ToolError.isInstance(thrown)) return failure(thrown.code, thrown.message, thrown.hint);
  const { type, message } = describeThrown(thrown);
  return failure("failed", `Tool execution failed: ${type}: ${message}`);
}

/** The last value is the result; every one before it is progress. */
async function drain(values: AsyncIterable<unknown>, context: HandlerContext): Promise<unknown> {
  let last: unknown;
  let started = false;
  for await (const value of values) {
    if (started && typeof last === "object" && last !== null) context.progress(last);
    last = value;
    started = true;
  }
  return last;
}

function warnIfBlocked(call: CallRecord, heldMs: number): void {
  if (heldMs < BLOCKED_LOOP_MS) return;
  call.scope.services.log.warn(
    `${call.entry.name} blocked the event loop for ${Math.round(heldMs)} ms; other calls had to wait`,
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
