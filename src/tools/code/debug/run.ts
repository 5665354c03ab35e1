import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { BreakpointReport, Debuggee, Stop } from "./types.js";

/** How long a program that has run out of time may take to say where it is. */
const LAST_WORDS_MS = 5_000;
const ASK_AGAIN_MS = 500;
/** The time that is given belongs to the program; this is for the debugger to get ready. */
const START_MS = 30_000;

type OutOfTime = "timeout" | "cancelled";

export interface DebugRun {
  readonly stops: readonly Stop[];
  readonly breakpoints: readonly BreakpointReport[];
  readonly output: string;
  readonly output_truncated?: true | undefined;
  /** Null when it was ended from outside. */
  readonly exit_code: number | null;
  readonly ended: "exited" | "max_stops" | "timeout";
}

/** Runs from stop to stop until the end or a limit; nothing of the program is left afterwards. */
export async function runToEnd(
  start: (stop: AbortSignal) => Promise<Debuggee>,
  limits: { readonly maxStops: number; readonly timeoutMs: number; readonly ctx: CallContext },
): Promise<DebugRun> {
  const { ctx } = limits;
  const clock = new AbortController();
  const stop = AbortSignal.any([ctx.signal, clock.signal]);
  const after = (ms: number): Promise<OutOfTime> =>
    delay(ms, "timeout" as const, { signal: stop }).catch(() => "cancelled" as const);
  const starting = start(stop);
  let debuggee: Debuggee | undefined;
  try {
    const begun = await Promise.race([starting, after(START_MS)]);
    if (typeof begun === "string") throw notStarted(begun);
    debuggee = begun;
    const outOfTime = after(limits.timeoutMs);
    const run = await followed(debuggee, { ...limits, outOfTime });
    await debuggee.end();
    const { text, truncated } = debuggee.output();
    return {
      ...run,
      breakpoints: debuggee.breakpoints,
      output: text,
      output_truncated: truncated ? true : undefined,
    };
  } finally {
    clock.abort();
    // Also when it was still starting: whatever has begun must not stay.
    await (debuggee === undefined ? starting.then((late) => late.end()) : debuggee.end()).catch(
      () => undefined,
    );
  }
}

async function followed(
  debuggee: Debuggee,
  limits: {
    readonly maxStops: number;
    readonly outOfTime: Promise<OutOfTime>;
    readonly ctx: CallContext;
  },
): Promise<Pick<DebugRun, "stops" | "exit_code" | "ended">> {
  const stops: Stop[] = [];
  for (;;) {
    const event = await Promise.race([debuggee.next(), limits.outOfTime]);
    if (event === "cancelled")
      throw new ToolError("Cancelled; the program was ended.", { code: "cancelled" });
    if (event === "timeout") {
      const last = await whereItIs(debuggee);
      return { stops: last === undefined ? stops : [...stops, last], exit_code: null, ended: "timeout" };
    }
    if (event.kind === "ended") return { stops, exit_code: event.exitCode, ended: "exited" };
    stops.push(event.stop);
    limits.ctx.progress({ message: `stop ${stops.length}: ${event.stop.function}, line ${event.stop.line}` });
    if (stops.length >= limits.maxStops) return { stops, exit_code: null, ended: "max_stops" };
    await Promise.race([debuggee.resume(), limits.outOfTime]);
  }
}

/** A program that hangs is asked where, again and again: it may not listen at once. */
async function whereItIs(debuggee: Debuggee): Promise<Stop | undefined> {
  const enough = new AbortController();
  const over = AbortSignal.any([enough.signal, AbortSignal.timeout(LAST_WORDS_MS)]);
  const asking = async (): Promise<undefined> => {
    while (!over.aborted) {
      await Promise.race([debuggee.pause().catch(() => undefined), delay(ASK_AGAIN_MS)]);
      await delay(ASK_AGAIN_MS, undefined, { signal: over }).catch(() => undefined);
    }
  };
  const event = await Promise.race([debuggee.next().catch(() => undefined), asking()]);
  enough.abort();
  return event?.kind === "stopped" ? { ...event.stop, reason: "timeout" } : undefined;
}

function notStarted(why: OutOfTime): ToolError {
  return why === "cancelled"
    ? new ToolError("Cancelled before the program was started.", { code: "cancelled" })
    : new ToolError("The debugger was not ready in time.", {
        code: "timeout",
        hint: "The machine may be busy: call again later.",
      });
}
