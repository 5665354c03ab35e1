import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** What a model does when it is asked: one request, one step. */
export interface Step {
  /** Only for requests like this; without it, for any. */
  readonly when?: When | undefined;
  /** How often it may be used; once unless said. */
  readonly repeat?: number | "always" | undefined;
  readonly reasoning?: string | undefined;
  readonly text?: string | undefined;
  readonly calls?: readonly ScriptedCall[] | undefined;
  /** `stop` or `tool_calls` unless said. `length` cuts the last call, or the text, in the middle. */
  readonly finish?: "stop" | "length" | "refusal" | undefined;
  /** In place of an answer. */
  readonly status?: number | undefined;
  /** The message of that status, or of an error in the middle of the stream. */
  readonly error?: string | undefined;
  /** OpenAI's own word for it: `context_length_exceeded`. */
  readonly code?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Behind all parts: the connection is cut, stays open without a byte, or an error comes. */
  readonly afterwards?: "break_off" | "fall_silent" | "error" | undefined;
  /** Before the first byte, and between two pieces. */
  readonly waitMs?: number | undefined;
  readonly paceMs?: number | undefined;
  /** What is billed; counted from the bytes unless said. */
  readonly usage?:
    | { readonly input?: number; readonly output?: number; readonly cached?: number }
    | undefined;
}

export interface When {
  /** Words that the last message holds, or one of them (`/…/` is an expression). */
  readonly last?: string | undefined;
  readonly anywhere?: string | undefined;
  readonly system?: string | undefined;
  readonly model?: string | undefined;
  /** Whether tools were offered: requests for titles and summaries offer none. */
  readonly tools?: boolean | undefined;
}

export interface ScriptedCall {
  readonly id?: string | undefined;
  readonly name: string;
  /** A text is sent as it is, however wrong. */
  readonly arguments?: unknown;
  /** As many calls as this, with their number in the place of `{n}`. */
  readonly times?: number | undefined;
}

/** A request as every format means it. */
export interface AskedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** Of a result. */
  readonly answers?: string | undefined;
  readonly images: number;
}

export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  readonly tools: readonly string[];
  readonly messages: readonly AskedMessage[];
  /** Everything the model reads, in its order: what a cache compares. */
  readonly prompt: readonly string[];
}

export interface Scenario {
  readonly about?: string | undefined;
  readonly steps: readonly Step[];
}

/** A scenario file, YAML or JSON. */
export function readScenario(path: string): Scenario {
  const read: unknown = parse(readFileSync(path, "utf8"));
  if (typeof read !== "object" || read === null || !("steps" in read) || !Array.isArray(read.steps))
    throw new Error(`${path} has no steps`);
  return read as Scenario;
}

/** Gives out steps in their order: the first one that is left and fits the request. */
export class Script {
  readonly #left: { readonly step: Step; uses: number }[];

  constructor(steps: readonly Step[]) {
    this.#left = steps.map((step) => ({
      step,
      uses: step.repeat === "always" ? Number.POSITIVE_INFINITY : (step.repeat ?? 1),
    }));
  }

  /** Steps nobody has asked for. */
  get unused(): readonly Step[] {
    return this.#left.flatMap(({ step, uses }) => (Number.isFinite(uses) && uses > 0 ? [step] : []));
  }

  next(asked: Asked): Step | undefined {
    const found = this.#left.find(({ step, uses }) => uses > 0 && fits(step.when, asked));
    if (found === undefined) return undefined;
    found.uses -= 1;
    return found.step;
  }
}

function fits(when: When | undefined, asked: Asked): boolean {
  if (when === undefined) return true;
  const system = asked.messages.filter(({ role }) => role === "system");
  const all = asked.messages.map(({ text }) => text).join("\n");
  return (
    holds(asked.messages.at(-1)?.text ?? "", when.last) &&
    holds(all, when.anywhere) &&
    holds(system.map(({ text }) => text).join("\n"), when.system) &&
    (when.model === undefined || asked.model === when.model) &&
    (when.tools === undefined || asked.tools.length > 0 === when.tools)
  );
}

function holds(text: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const expression = /^\/(.*)\/$/s.exec(wanted)?.[1];
  return expression === undefined ? text.includes(wanted) : new RegExp(expression).test(text);
}
