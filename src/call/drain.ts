import type { HandlerContext } from "./context.js";

/** An iterator that never waits would otherwise keep every timer from firing. */
const VALUES_PER_TURN = 32;

/** The last value is the result; every one before it is progress. An abort tells the iterator to stop. */
export async function drain(values: AsyncIterable<unknown>, context: HandlerContext): Promise<unknown> {
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

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
