import { diffArrays } from "diff";
import type { HunkLine } from "./v4a-parse.js";

/** Lines [from, to). */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** A piece of the way from the old lines to the new ones. */
export type Step =
  | { readonly kind: "keep"; readonly old: number; readonly wanted: number }
  | { readonly kind: "change"; readonly old: LineRange; readonly wanted: LineRange };

/** What an edit keeps and what it changes, told from the two texts alone. */
export function scriptBetween(sent: readonly string[], wanted: readonly string[]): readonly Step[] {
  const script = new ScriptBuilder();
  for (const { value, added, removed } of diffArrays([...sent], [...wanted])) {
    for (const _line of value) script.add(added ? "+" : removed ? "-" : " ");
  }
  return script.steps();
}

/** The same for a hunk, which says itself what it keeps. */
export function scriptOf(lines: readonly HunkLine[]): readonly Step[] {
  const script = new ScriptBuilder();
  for (const { op } of lines) script.add(op);
  return script.steps();
}

class ScriptBuilder {
  readonly #steps: Step[] = [];
  #old = { from: 0, to: 0 };
  #wanted = { from: 0, to: 0 };

  add(op: HunkLine["op"]): void {
    if (op === "-") {
      // Lines that go after others have come are another change.
      if (this.#wanted.to > this.#wanted.from) this.#endChange();
      this.#old.to++;
    } else if (op === "+") this.#wanted.to++;
    else {
      this.#endChange();
      this.#steps.push({ kind: "keep", old: this.#old.to, wanted: this.#wanted.to });
      this.#old = { from: this.#old.to + 1, to: this.#old.to + 1 };
      this.#wanted = { from: this.#wanted.to + 1, to: this.#wanted.to + 1 };
    }
  }

  steps(): readonly Step[] {
    this.#endChange();
    return this.#steps;
  }

  #endChange(): void {
    const changed = this.#old.to > this.#old.from || this.#wanted.to > this.#wanted.from;
    if (changed) this.#steps.push({ kind: "change", old: this.#old, wanted: this.#wanted });
    this.#old = { from: this.#old.to, to: this.#old.to };
    this.#wanted = { from: this.#wanted.to, to: this.#wanted.to };
  }
}
