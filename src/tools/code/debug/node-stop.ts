import type { Debugger, Runtime } from "node:inspector";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../../base/errno.js";
import type { NodeRelay } from "./node-relay.js";
import { isException, thrownIn } from "./node-uncaught.js";
import { describeError, NodeValues } from "./node-values.js";
import { cut, type Evaluation, type Frame, LIMITS, type Stop } from "./types.js";

const OWN_SCOPES = new Set(["local", "block", "catch", "module", "eval", "with"]);
/** What Node hands to every CommonJS module; nobody looks for these. */
const WRAPPER = new Set(["exports", "require", "module", "__filename", "__dirname"]);

/** Turns pauses of V8 into stops that can be read. */
export class NodeStops {
  readonly #relay: NodeRelay;
  readonly #evaluate: readonly string[];
  readonly #values: NodeValues;
  readonly #urls = new Map<string, string>();
  readonly #sources = new Map<string, Promise<readonly string[]>>();

  constructor({ relay, evaluate }: { readonly relay: NodeRelay; readonly evaluate: readonly string[] }) {
    this.#relay = relay;
    this.#evaluate = evaluate;
    this.#values = new NodeValues(relay);
  }

  knows({ scriptId, url }: Debugger.ScriptParsedEventDataType): void {
    this.#urls.set(scriptId, url);
  }

  async read(paused: Debugger.PausedEventDataType): Promise<Stop> {
    const frames = paused.callFrames.filter((frame) => !this.#isInternal(frame)).slice(0, LIMITS.frames);
    const shown = frames.length === 0 ? paused.callFrames.slice(0, 1) : frames;
    const [top] = shown;
    const stack = await Promise.all(shown.map((frame) => this.#frame(frame)));
    const { file = "", line = 0, function: name = "" } = stack[0] ?? {};
    const exception = isException(paused) ? thrownIn(paused) : undefined;
    return {
      reason: exception === undefined ? "breakpoint" : "exception",
      file,
      line,
      function: name,
      exception: exception === undefined ? undefined : cut(exception, LIMITS.valueChars),
      stack,
      locals: top === undefined ? {} : await this.#locals(top),
      evaluations:
        top === undefined
          ? []
          : await Promise.all(this.#evaluate.map((each) => this.#evaluated(top.callFrameId, each))),
    };
  }

  #urlOf(frame: Debugger.CallFrame): string {
    return frame.url || this.#urls.get(frame.location.scriptId) || "";
  }

  #isInternal(frame: Debugger.CallFrame): boolean {
    return this.#urlOf(frame).startsWith("node:");
  }

  async #frame(frame: Debugger.CallFrame): Promise<Frame> {
    const { scriptId, lineNumber } = frame.location;
    const lines = await this.#sourceOf(scriptId);
    const source = lines[lineNumber]?.trim() ?? "";
    return {
      function: frame.functionName || "(anonymous)",
      file: pathOf(this.#urlOf(frame)),
      line: lineNumber + 1,
      source: source === "" ? undefined : cut(source, LIMITS.sourceChars),
    };
  }

  #sourceOf(scriptId: string): Promise<readonly string[]> {
    let lines = this.#sources.get(scriptId);
    if (lines === undefined) {
      lines = this.#relay
        .send<Debugger.GetScriptSourceReturnType>("Debugger.getScriptSource", { scriptId })
        .then(({ scriptSource }) => scriptSource.split(/\r\n|[\n\r\u2028\u2029]/))
        .catch(() => []);
      this.#sources.set(scriptId, lines);
    }
    return lines;
  }

  async #locals({ scopeChain }: Debugger.CallFrame): Promise<Readonly<Record<string, string>>> {
    const found = new Map<string, Runtime.RemoteObject>();
    for (const scope of scopeChain) {
      if (!OWN_SCOPES.has(scope.type)) continue;
      for (const { name, value } of await this.#values.properties(scope.object.objectId)) {
        // An inner variable hides an outer one of the same name.
        if (value !== undefined && !found.has(name) && !WRAPPER.has(name)) found.set(name, value);
      }
    }
    const shown = await Promise.all(
      [...found].slice(0, LIMITS.locals).map(async ([name, value]) => {
        return [name, cut(await this.#values.described(value), LIMITS.valueChars)] as const;
      }),
    );
    const rest = found.size - shown.length;
    return Object.fromEntries(rest > 0 ? [...shown, ["…", `${rest} more`]] : shown);
  }

  async #evaluated(callFrameId: string, expression: string): Promise<Evaluation> {
    try {
      const { result, exceptionDetails } = await this.#relay.send<Debugger.EvaluateOnCallFrameReturnType>(
        "Debugger.evaluateOnCallFrame",
        { callFrameId, expression, generatePreview: true, silent: true },
      );
      if (exceptionDetails !== undefined) {
        const { exception, text } = exceptionDetails;
        return { expression, error: cut((exception && describeError(exception)) || text, LIMITS.valueChars) };
      }
      return { expression, value: cut(await this.#values.described(result), LIMITS.evaluationChars) };
    } catch (error) {
      return { expression, error: messageOf(error) };
    }
  }
}

function pathOf(url: string): string {
  try {
    return url.startsWith("file:") ? fileURLToPath(url) : url;
  } catch {
    return url;
  }
}
