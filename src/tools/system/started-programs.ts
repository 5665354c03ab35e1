import type { Outline } from "../../shell/read/outline.js";

/** A program that a line starts, for hints only: what is dangerous is judged by the policy. */
export interface StartedProgram {
  /** Without its folder. */
  readonly program: string;
  readonly args: readonly string[];
}

const TRANSPARENT = new Set("exec command builtin sudo doas env nice ionice stdbuf npx bunx".split(" "));

/** Every program of a line, in order, without the words that merely start another one. */
export function programsIn(outline: Outline | undefined): readonly StartedProgram[] {
  return (outline?.commands ?? []).flatMap(({ words }) => {
    const rest = [...words];
    while (TRANSPARENT.has(rest[0] ?? "") || /^[A-Za-z_]\w*\+?=/.test(rest[0] ?? "")) {
      rest.shift();
      while (rest[0]?.startsWith("-") === true) rest.shift();
    }
    const [program, ...args] = rest;
    return program === undefined ? [] : [{ program: program.replace(/^.*\//, ""), args }];
  });
}
