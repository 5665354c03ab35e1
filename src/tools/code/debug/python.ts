import type { DebugProtocol } from "@vscode/debugprotocol";
import { OutputWindow } from "../../../env/output-window.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { type DapConnection, openDap } from "./dap-connection.js";
import { EventQueue } from "./event-queue.js";
import { readPythonStop } from "./python-stop.js";
import {
  type BreakpointReport,
  type DebugEvent,
  type Debuggee,
  type DebugPlan,
  type DebugRoom,
  LIMITS,
} from "./types.js";

const FIND_TIMEOUT_MS = 20_000;
/** Prints the interpreter and whether debugpy is there; the first that has it wins. */
const FIND_DEBUGPY = `
found=
for python in python3 python /usr/bin/python3 /usr/local/bin/python3; do
  answer=$("$python" -c 'import importlib.util, sys
print(sys.executable)
sys.exit(0 if importlib.util.find_spec("debugpy") else 3)' 2>/dev/null)
  case $? in
    0) printf '%s\\n' "$answer"; exit 0 ;;
    3) found=1 ;;
  esac
done
[ -n "$found" ] && exit 3
exit 4`;
/** Library code is passed by unless somebody asks for a stop in it. */
const LIBRARY = /\/(?:site|dist)-packages\/|\/lib\/python\d/;

/** Frames of the debugger at the top of every traceback, which the program alone would not have. */
const OWN_FRAMES = /^ {2}File "[^"\n]*(?:\/debugpy\/|\/runpy\.py)[^"\n]*", line .*\n(?: {4}.*\n)*/gm;

const EXCEPTION_FILTERS = { none: [], uncaught: ["uncaught"], all: ["raised", "uncaught"] } as const;

type Signal = { readonly stopped: DebugProtocol.StoppedEvent["body"] } | { readonly ended: number | null };

/** Starts the program under debugpy; it runs until its first stop. */
export async function startPython(plan: DebugPlan, room: DebugRoom): Promise<Debuggee> {
  const python = await findPython(room.ctx);
  const dap = await openDap([python, "-m", "debugpy.adapter"], {
    ...room,
    // A warning about Python's own start-up modules, printed among the program's output.
    env: { PYDEVD_DISABLE_FILE_VALIDATION: "1" },
  });
  try {
    return await launch({ plan, dap });
  } catch (error) {
    await dap.end();
    throw error;
  }
}

async function launch({ plan, dap }: { plan: DebugPlan; dap: DapConnection }): Promise<Debuggee> {
  const signals = new EventQueue<Signal>();
  const window = new OutputWindow(LIMITS.outputChars);
  let exitCode: number | null = null;
  let thread = 1;
  dap.on<DebugProtocol.StoppedEvent>("stopped", (stopped) => signals.push({ stopped }));
  dap.on<DebugProtocol.ExitedEvent>("exited", (body) => {
    exitCode = body.exitCode;
  });
  dap.on<DebugProtocol.TerminatedEvent>("terminated", () => signals.push({ ended: exitCode }));
  dap.on<DebugProtocol.OutputEvent>("output", ({ category = "console", output }) => {
    if (category === "stdout" || category === "stderr") window.push(Buffer.from(output, "utf8"));
  });
  void dap.lost.then((error) => signals.fail(error));
  const breakpoints = await configure({ plan, dap });
  return {
    breakpoints,
    async next(): Promise<DebugEvent> {
      for (;;) {
        const signal = await signals.next();
        if ("ended" in signal) return { kind: "ended", exitCode: signal.ended };
        thread = signal.stopped.threadId ?? thread;
        const stop = await readPythonStop({ dap, stopped: signal.stopped, evaluate: plan.evaluate });
        // Another thread may have stopped at the same moment and gone on with this one.
        if (stop !== undefined) return { kind: "stopped", stop };
      }
    },
    async resume() {
      await dap.request("continue", { threadId: thread });
    },
    async pause() {
      await dap.request("pause", { threadId: thread });
    },
    output() {
      const { text, truncated } = window.finish();
      return { text: text.replace(OWN_FRAMES, ""), truncated };
    },
    end: () => dap.end(),
  };
}

async function configure({
  plan,
  dap,
}: {
  plan: DebugPlan;
  dap: DapConnection;
}): Promise<readonly BreakpointReport[]> {
  const initialized = new Promise<void>((resolve) => dap.on("initialized", () => resolve()));
  await dap.request("initialize", {
    adapterID: "hermes",
    clientID: "hermes",
    pathFormat: "path",
    linesStartAt1: true,
    columnsStartAt1: true,
  });
  const launched = dap.request("launch", {
    program: plan.program,
    args: plan.args,
    cwd: plan.cwd,
    console: "internalConsole",
    subProcess: false,
    justMyCode: !plan.breakpoints.some(({ file }) => LIBRARY.test(file)),
  });
  // The answer to launch comes when everything is configured, or at once when it failed.
  await Promise.race([initialized, launched]);
  const reports: BreakpointReport[] = [];
  for (const file of new Set(plan.breakpoints.map((each) => each.file))) {
    const wanted = plan.breakpoints.filter((each) => each.file === file);
    const { breakpoints } = await dap.request<DebugProtocol.SetBreakpointsResponse>("setBreakpoints", {
      source: { path: file },
      breakpoints: wanted.map(({ line, condition }) => ({ line, condition })),
    });
    wanted.forEach((each, index) => {
      const { verified = false, line = each.line } = breakpoints[index] ?? {};
      reports.push({ ...each, verified, actual_line: line === each.line ? undefined : line });
    });
  }
  await dap.request("setExceptionBreakpoints", { filters: EXCEPTION_FILTERS[plan.exceptions] });
  await dap.request("configurationDone", {});
  await launched;
  return reports;
}

async function findPython(ctx: CallContext): Promise<string> {
  const { exitCode, output } = await ctx.environment.exec({
    command: FIND_DEBUGPY,
    cwd: "/",
    timeoutMs: FIND_TIMEOUT_MS,
    signal: ctx.signal,
    separateStderr: true,
  });
  const python = output.trim();
  if (exitCode === 0 && python !== "") return python;
  throw exitCode === 3
    ? new ToolError("Python is there, but debugpy, its debugger, is not.", {
        code: "unavailable",
        hint: "Install it: `python3 -m pip install debugpy`, or on Debian `apt-get install python3-debugpy`.",
      })
    : new ToolError("There is no Python 3 in this environment.", {
        code: "unavailable",
        hint: "Install python3 and debugpy (Debian: `apt-get install python3-debugpy`).",
      });
}
