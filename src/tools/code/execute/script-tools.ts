import type { CallResult } from "../../../tool/call.js";
import { textOf } from "../../../tool/content.js";
import { type Failure, failure } from "../../../tool/errors.js";
import type { NestedTool, NestedTools } from "../../../tool/tool.js";
import type { ToolCall, ToolsForDriver } from "./interpreter.js";
import type { Runner } from "./language.js";
import { functionName, otherNames, parametersOf, pythonModule } from "./python-module.js";

/** What goes back to a script: a value or a failure, as JSON. */
export interface Answer {
  readonly ok: boolean;
  readonly json: string;
}

/** The tool calls of one run of a script, counted. */
export class ScriptTools {
  readonly #nested: NestedTools;
  readonly #limit: number;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<CallResult>>();
  #made = 0;

  constructor(nested: NestedTools, limit: number) {
    this.#nested = nested;
    this.#limit = limit;
  }

  /** Calls that were let through, whatever came of them. */
  get made(): number {
    return this.#made;
  }

  async call({ name, args }: Pick<ToolCall, "name" | "args">): Promise<Answer> {
    if (this.#made >= this.#limit) return failed(overBudget(this.#limit));
    this.#made += 1;
    const running = this.#nested.call({ name, arguments: args ?? {} }, { signal: this.#stop.signal });
    this.#running.add(running);
    const result = await running;
    this.#running.delete(running);
    return answerOf(result);
  }

  /** Ends the calls that nobody waits for any more, and waits until they have ended. */
  async close(): Promise<void> {
    this.#stop.abort(new Error("the script has ended"));
    await Promise.allSettled(this.#running);
    this.#nested.close();
  }
}

/** What a driver needs to make the functions. */
export function forDriver(runner: Runner, tools: readonly NestedTool[]): ToolsForDriver {
  if (runner === "python") return pythonModule(tools);
  return tools.map((tool) => ({
    name: tool.name,
    functions: [functionName(tool.name), ...otherNames(tool.name)],
    parameters: parametersOf(tool.parameters).map(({ name }) => name),
  }));
}

function overBudget(limit: number): Failure {
  return failure(
    "over_budget",
    `This script has made ${limit} tool calls, which is the limit.`,
    "Do the rest in another script, or raise code_execution.max_tool_calls.",
  );
}

function answerOf(result: CallResult): Answer {
  if (!result.ok) return failed(result.error ?? failure("failed", textOf(result.content)));
  if (result.structured !== undefined) return { ok: true, json: JSON.stringify(result.structured) };
  const onlyText = result.content.every((part) => part.type === "text");
  return { ok: true, json: JSON.stringify(onlyText ? textOf(result.content) : result.content) };
}

function failed(problem: Failure): Answer {
  return { ok: false, json: JSON.stringify(problem) };
}
