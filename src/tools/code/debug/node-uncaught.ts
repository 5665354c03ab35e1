import type { Debugger, Runtime } from "node:inspector";
import { describeError } from "./node-values.js";
import type { Stop } from "./types.js";

/** A program that throws more often than this would be slowed down by looking at each of them. */
const MOST_LOOKED_AT = 50;

/**
 * V8 takes what the top level of an ES module throws for handled, because Node waits for the module's promise.
 * So such an exception is looked at when it is thrown, and counts as a stop when Node reports that nobody
 * caught it.
 */
export class ModuleExceptions {
  #looked = 0;
  #last: { readonly thrown: string; readonly stop: Stop } | undefined;

  get enough(): boolean {
    return this.#looked >= MOST_LOOKED_AT;
  }

  async look(paused: Debugger.PausedEventDataType, read: () => Promise<Stop>): Promise<void> {
    this.#looked += 1;
    const isModule = paused.callFrames.some(({ scopeChain }) => scopeChain[0]?.type === "module");
    // Node may catch it and throw it on; what counts is where it came from.
    if (isModule) this.#last = { thrown: thrownIn(paused), stop: await read() };
  }

  /** The stop of an exception that was looked at, now that it is known to be uncaught. */
  confirm({ exceptionDetails }: Runtime.ExceptionThrownEventDataType): Stop | undefined {
    const { exception } = exceptionDetails;
    const last = this.#last;
    this.#last = undefined;
    return exception !== undefined && last?.thrown === describeError(exception) ? last.stop : undefined;
  }
}

export function isException({ reason }: Debugger.PausedEventDataType): boolean {
  return reason === "exception" || reason === "promiseRejection";
}

export function thrownIn({ data }: Debugger.PausedEventDataType): string {
  return describeError((data ?? {}) as Runtime.RemoteObject);
}

export function isUncaught({ data }: Debugger.PausedEventDataType): boolean {
  return (data as { readonly uncaught?: boolean } | undefined)?.uncaught !== false;
}
