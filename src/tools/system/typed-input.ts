import { expandKeys } from "../../env/pty/keys.js";
import type { Effect, EffectScope } from "../../tool/effects.js";

export interface TypedInput {
  readonly process: string;
  readonly data: string;
  readonly submit: boolean;
  /** Whether it has a terminal, once that is known; names of keys are then read as keys. */
  readonly pty?: boolean;
}

/** The characters that reach the process, new line not included. Only a terminal has keys. */
export function typedText(
  data: string,
  terminal: { readonly applicationCursor?: boolean } | undefined,
): string {
  return terminal === undefined ? data : expandKeys(data, terminal);
}

/** Ends a program or its input and types nothing. */
const ENDING_KEYS = /^[\u0003\u0004\u001a\u001c]+$/;
/** Text that edits the line it stands in: what will be sent off cannot be told from it. */
const EDITING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const UNKNOWABLE = "*";

/**
 * Typed text is judged like a command, together with what stands in the line already: a program that runs
 * what it reads must not be a way around the policy.
 */
export function typedEffects(typed: TypedInput, scope: EffectScope): readonly Effect[] {
  const { process, submit } = typed;
  const text = typedText(typed.data, typed.pty === false ? undefined : {});
  const pending = scope.pendingInput?.(process) ?? "";
  if (!submit && ENDING_KEYS.test(text) && (pending === "" || !text.includes("\u0004"))) {
    return [processEffect(process)];
  }
  // A tab is a blank in a pipe; a terminal completes the word before it.
  const unknowable = EDITING.test(pending + text) || (typed.pty !== false && (pending + text).includes("\t"));
  const line = (pending + text).replaceAll(/\r\n?/g, "\n");
  const typedInto = scope.commandOf?.(process);
  const before = (scope.sentInput?.(process) ?? "").replaceAll(/\r\n?/g, "\n");
  return [
    {
      action: "terminal:execute",
      resource: unknowable || line.trim() === UNKNOWABLE ? UNKNOWABLE : line,
      mode: "execute",
      typedInto,
      typedBefore: before === "" ? undefined : before,
    },
  ];
}

/** Changing one process: two such calls on it follow each other, and no other call waits for them. */
export function processEffect(process: string): Effect {
  return { action: "process:write", resource: process, mode: "write" };
}
