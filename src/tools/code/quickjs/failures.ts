import { messageOf } from "../../../base/errno.js";
import type { Ending, ScriptFailure } from "./protocol.js";

/** Of a message or a stack: a script may throw megabytes. */
const MAX_CHARS = 4_000;

/** For a request that is not even sent; JSON, as the sandbox takes it. */
export function refusal(problem: { message: string; hint: string }): string {
  return JSON.stringify({ code: "over_budget", ...problem });
}

export function failureOf(thrown: unknown): ScriptFailure {
  if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: clip(String(thrown)) };
  const given = thrown as Record<string, unknown>;
  const text = (key: string) => {
    const value = given[key];
    return typeof value === "string" && value !== "" ? clip(value) : undefined;
  };
  const [stack, code, hint] = [text("stack"), text("code"), text("hint")];
  return {
    name: text("name") ?? "Error",
    message: text("message") ?? "no message",
    stack,
    code,
    hint,
  };
}

export function withHint(problem: ScriptFailure, code: string): ScriptFailure {
  if (!/^\s*(?:import|export)\b/m.test(code)) return problem;
  return {
    ...problem,
    hint: "A script has no modules: leave `import` and `export` out and call tools with `await tools.name({...})`.",
  };
}

/**
 * An engine without memory cannot even tell so: it throws nothing, forgets promises or breaks. What it does tell
 * has the place in the script where it happened.
 */
export function withoutMemory(ending: Ending): Ending {
  const isItself = ending.how === "broken" || (ending.how === "failed" && ending.error.stack === undefined);
  return isItself ? { how: "failed", error: { name: "InternalError", message: "out of memory" } } : ending;
}

/** The engine threw in the host: it ran out of memory where it cannot tell its script, or it is damaged. */
export function brokenBy(error: unknown): Ending {
  const reason = messageOf(error);
  return { how: "broken", reason };
}

function clip(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS).replace(/[\ud800-\udbff]$/, "")}…`;
}
