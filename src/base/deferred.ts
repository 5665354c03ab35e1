/** A promise that is settled from outside, once. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  /** What it was resolved with, so that nobody has to wait to see it. */
  readonly value: T | undefined;
  resolve(value: T): void;
  reject(error: Error): void;
}

/** A rejection nobody waits for is not a defect here: somebody else has told of it. */
export function deferred<T>(): Deferred<T> {
  let settle: { resolve(value: T): void; reject(error: Error): void } | undefined;
  let held: T | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return {
    promise,
    get value() {
      return held;
    },
    resolve(value) {
      held ??= value;
      settle?.resolve(value);
    },
    reject: (error) => settle?.reject(error),
  };
}
