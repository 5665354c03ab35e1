import type { Debugger, Runtime } from "node:inspector";
import { pathToFileURL } from "node:url";
import { OutputWindow } from "../../../env/output-window.js";
import type { CallContext } from "../../../tool/tool.js";
import { EventQueue } from "./event-queue.js";
import { type NodeRelay, openNodeRelay } from "./node-relay.js";
import { NodeStops } from "./node-stop.js";
import { isException, isUncaught, ModuleExceptions } from "./node-uncaught.js";
import {
  type BreakpointReport,
  type DebugEvent,
  type Debuggee,
  type DebugPlan,
  type DebugRoom,
  LIMITS,
  type Stop,
} from "./types.js";

type Signal =
  | { readonly paused: Debugger.PausedEventDataType }
  | { readonly stop: Stop }
  | { readonly ended: number | null };

/** Why Node stops before the first line, when it was told to wait for a debugger. */
const AT_START = /^Break on start$/i;

/** Starts the program under Node's inspector; it runs until its first stop. */
export async function startNode(plan: DebugPlan, room: DebugRoom): Promise<Debuggee> {
  const signals = new EventQueue<Signal>();
  const window = new OutputWindow(LIMITS.outputChars);
  const listeners: Record<string, (params: unknown) => void> = {};
  const relay = await openNodeRelay(plan, {
    ...room,
    events: {
      onOutput: (text) => void window.push(Buffer.from(text, "utf8")),
      onExit: (code) => signals.push({ ended: code }),
      onLost: (error) => signals.fail(error),
      onEvent: (method, params) => listeners[method]?.(params),
    },
  });
  // A program that runs already cannot be resumed, and need not be.
  const resume = () => relay.send<void>("Debugger.resume").catch(() => undefined);
  let started = false;
  let mainContext: number | undefined;
  const stops = new NodeStops({ relay, evaluate: plan.evaluate });
  const exceptions = new ModuleExceptions();
  const look = async (paused: Debugger.PausedEventDataType) => {
    await exceptions.look(paused, () => stops.read(paused)).catch(() => undefined);
    if (exceptions.enough) await setExceptionStops(relay, "uncaught").catch(() => undefined);
    await resume();
  };
  let looksAtModules = plan.exceptions !== "uncaught";
  listeners["Debugger.scriptParsed"] = (params) => {
    const script = params as Debugger.ScriptParsedEventDataType;
    stops.knows(script);
    if (looksAtModules || script.isModule !== true || !script.url.startsWith("file:")) return;
    looksAtModules = true;
    void setExceptionStops(relay, "all").catch(() => undefined);
  };
  listeners["Debugger.paused"] = (params) => {
    const paused = params as Debugger.PausedEventDataType;
    const isStart = !started && AT_START.test(paused.reason) && (paused.hitBreakpoints?.length ?? 0) === 0;
    started = true;
    if (isStart) void resume();
    else if (plan.exceptions === "uncaught" && isException(paused) && !isUncaught(paused)) void look(paused);
    else signals.push({ paused });
  };
  listeners["Runtime.exceptionThrown"] = (params) => {
    const stop = exceptions.confirm(params as Runtime.ExceptionThrownEventDataType);
    if (stop !== undefined) signals.push({ stop });
  };
  listeners["Runtime.executionContextCreated"] = (params) => {
    mainContext ??= (params as Runtime.ExecutionContextCreatedEventDataType).context.id;
  };
  listeners["Runtime.executionContextDestroyed"] = (params) => {
    const { executionContextId } = params as Runtime.ExecutionContextDestroyedEventDataType;
    if (executionContextId === mainContext) relay.letGo();
  };
  try {
    const breakpoints = new Map<string, BreakpointReport>();
    listeners["Debugger.breakpointResolved"] = (params) => {
      const { breakpointId, location } = params as Debugger.BreakpointResolvedEventDataType;
      const known = breakpoints.get(breakpointId);
      if (known !== undefined) breakpoints.set(breakpointId, resolved(known, location));
    };
    await configure({ plan, relay, ctx: room.ctx, breakpoints });
    return {
      get breakpoints() {
        return [...breakpoints.values()];
      },
      async next(): Promise<DebugEvent> {
        for (;;) {
          const signal = await signals.next();
          if ("ended" in signal) return { kind: "ended", exitCode: signal.ended };
          const stop =
            "stop" in signal ? signal.stop : await stops.read(signal.paused).catch(() => undefined);
          if (stop !== undefined) return { kind: "stopped", stop };
        }
      },
      resume,
      pause: () => relay.send<void>("Debugger.pause"),
      output: () => window.finish(),
      end: () => relay.end(),
    };
  } catch (error) {
    await relay.end();
    throw error;
  }
}

async function configure({
  plan,
  relay,
  ctx,
  breakpoints,
}: {
  readonly plan: DebugPlan;
  readonly relay: NodeRelay;
  readonly ctx: CallContext;
  readonly breakpoints: Map<string, BreakpointReport>;
}): Promise<void> {
  await relay.open;
  await relay.send("Runtime.enable");
  await relay.send("Debugger.enable");
  // Node's own modules throw and catch all the time; that is nobody's bug.
  await relay.send("Debugger.setBlackboxPatterns", { patterns: ["^node:"] });
  await setExceptionStops(relay, plan.exceptions);
  for (const each of plan.breakpoints) {
    const real = await ctx.environment.files.realpath(each.file);
    const { breakpointId, locations } = await relay.send<Debugger.SetBreakpointByUrlReturnType>(
      "Debugger.setBreakpointByUrl",
      {
        lineNumber: each.line - 1,
        url: pathToFileURL(real).href,
        condition: each.condition,
      },
    );
    const [location] = locations;
    const report = { ...each, verified: false };
    breakpoints.set(breakpointId, location === undefined ? report : resolved(report, location));
  }
  await relay.send("Runtime.runIfWaitingForDebugger");
}

function setExceptionStops(relay: NodeRelay, state: DebugPlan["exceptions"]): Promise<void> {
  return relay.send("Debugger.setPauseOnExceptions", { state });
}

/** A line without code stops at the next one that has some. */
function resolved(report: BreakpointReport, { lineNumber }: Debugger.Location): BreakpointReport {
  const line = lineNumber + 1;
  return { ...report, verified: true, ...(line !== report.line && { actual_line: line }) };
}
