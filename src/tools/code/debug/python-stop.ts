import type { DebugProtocol } from "@vscode/debugprotocol";
import { messageOf } from "../../../base/errno.js";
import type { DapConnection } from "./dap-connection.js";
import { cut, type Evaluation, type Frame, LIMITS, type Stop } from "./types.js";

const REASONS: Readonly<Record<string, Stop["reason"]>> = {
  breakpoint: "breakpoint",
  exception: "exception",
  pause: "pause",
};
/** Groups that the debugger makes up, not variables of the program. */
const GROUPS = new Set(["special variables", "function variables", "class variables", "protected variables"]);
const OPAQUE = /^<.* object at 0x[0-9a-f]+>$/s;
const MODULE = /^<module '/;

/** Everything worth knowing about a stopped thread; undefined when it runs again by now. */
export async function readPythonStop(at: {
  readonly dap: DapConnection;
  readonly stopped: DebugProtocol.StoppedEvent["body"];
  readonly evaluate: readonly string[];
}): Promise<Stop | undefined> {
  const { dap, stopped } = at;
  const threadId = stopped.threadId ?? 1;
  const trace = await dap
    .request<DebugProtocol.StackTraceResponse>("stackTrace", { threadId, levels: LIMITS.frames })
    .catch(() => undefined);
  const frames = trace?.stackFrames ?? [];
  const [top] = frames;
  if (top === undefined) return undefined;
  const [sources, locals, evaluations] = await Promise.all([
    sourceLines(frames, dap),
    localsOf(top.id, dap),
    Promise.all(at.evaluate.map((expression) => evaluated({ expression, frameId: top.id, dap }))),
  ]);
  const stack = frames.map((frame, index): Frame => {
    const source = sources[index]?.trim() ?? "";
    return {
      function: frame.name,
      file: frame.source?.path ?? "",
      line: frame.line,
      source: source === "" ? undefined : cut(source, LIMITS.sourceChars),
    };
  });
  const { file = "", line = 0, function: name = "" } = stack[0] ?? {};
  const exception =
    stopped.reason === "exception"
      ? [stopped.text, stopped.description].filter(Boolean).join(": ") || "unknown exception"
      : undefined;
  return {
    reason: REASONS[stopped.reason] ?? "pause",
    file,
    line,
    function: name,
    exception: exception === undefined ? undefined : cut(exception, LIMITS.valueChars),
    stack,
    locals,
    evaluations,
  };
}

/** Python reads its own sources, so that frames of any file have their line, wherever the program runs. */
async function sourceLines(
  frames: readonly DebugProtocol.StackFrame[],
  dap: DapConnection,
): Promise<readonly string[]> {
  const places = frames.map(({ source, line }) => [source?.path ?? "", line]);
  const [top] = frames;
  if (top === undefined) return [];
  const expression =
    `__import__("json").dumps([__import__("linecache").getline(f, l).strip()[:${LIMITS.sourceChars + 1}] ` +
    `for f, l in ${JSON.stringify(places)}])`;
  try {
    const { result } = await dap.request<DebugProtocol.EvaluateResponse>("evaluate", {
      expression,
      frameId: top.id,
      context: "clipboard",
    });
    const lines: unknown = JSON.parse(unquoted(result));
    return Array.isArray(lines) ? lines.map(String) : [];
  } catch {
    return [];
  }
}

/** JSON of ASCII text in Python's quotes: only quotes and backslashes are escaped there. */
function unquoted(repr: string): string {
  return repr.slice(1, -1).replace(/\\(.)/g, "$1");
}

async function localsOf(frameId: number, dap: DapConnection): Promise<Readonly<Record<string, string>>> {
  const { scopes } = await dap.request<DebugProtocol.ScopesResponse>("scopes", { frameId });
  const reference = scopes.find(
    ({ presentationHint, name }) => presentationHint === "locals" || name === "Locals",
  );
  if (reference === undefined) return {};
  const found = (await members(reference.variablesReference, dap)).filter(({ value }) => !MODULE.test(value));
  const shown = await Promise.all(
    found.slice(0, LIMITS.locals).map(async (one) => [one.name, await described(one, dap)] as const),
  );
  const rest = found.length - shown.length;
  return Object.fromEntries(rest > 0 ? [...shown, ["…", `${rest} more`]] : shown);
}

async function members(reference: number, dap: DapConnection): Promise<readonly DebugProtocol.Variable[]> {
  const { variables } = await dap.request<DebugProtocol.VariablesResponse>("variables", {
    variablesReference: reference,
  });
  return variables.filter(({ name }) => !GROUPS.has(name));
}

/** An object whose own words say nothing is shown with its attributes. */
async function described(variable: DebugProtocol.Variable, dap: DapConnection): Promise<string> {
  const { value, variablesReference: reference, type } = variable;
  if (!OPAQUE.test(value) || reference === 0) return cut(value, LIMITS.valueChars);
  const attributes = await members(reference, dap).catch(() => []);
  const listed = attributes.slice(0, LIMITS.members).map((one) => `${one.name}=${cut(one.value, 100)}`);
  if (attributes.length > listed.length) listed.push("…");
  return cut(`${type ?? "object"}(${listed.join(", ")})`, LIMITS.valueChars);
}

async function evaluated(asked: {
  readonly expression: string;
  readonly frameId: number;
  readonly dap: DapConnection;
}): Promise<Evaluation> {
  const { expression, frameId, dap } = asked;
  try {
    const { result } = await dap.request<DebugProtocol.EvaluateResponse>("evaluate", {
      expression,
      frameId,
      context: "watch",
    });
    return { expression, value: cut(result, LIMITS.evaluationChars) };
  } catch (error) {
    return {
      expression,
      error: cut(messageOf(error), LIMITS.valueChars),
    };
  }
}
